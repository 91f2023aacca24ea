import { Command } from 'commander';
import type { ForkCommandOptions } from './run-fork.ts';
import { optionsOf } from './shared-options.ts';
import { whole } from './whole.ts';

const EXAMPLES = `
Examples:
  $ turnlock fork SESSION --tenant acme --by ana
  $ turnlock fork SESSION --at-turn 7 --by ana --json | jq -r .sessionId
`;

/** `turnlock fork`. */
export function forkCommand(): Command {
  return new Command('fork')
    .description('copy the history of a session up to a turn into a new session')
    .argument('<session>', 'id of the session')
    .option('--tenant <tenant>', 'whose it is; looked up where it is left out, which the database records')
    .option(
      '--at-turn <index>',
      'the last turn that is copied (default: the last one at which every call has its tool turn)',
      whole(0, 2 ** 31 - 1),
    )
    .option('--external-id <id>', 'your id for the fork; the same one again gives the same fork')
    .requiredOption('--by <who>', 'who forks, for the audit')
    .addHelpText('after', EXAMPLES)
    .action(async (session: string, _options, command: Command) => {
      const { runFork } = await import('./run-fork.ts');
      await runFork(session, optionsOf<ForkCommandOptions>(command));
    });
}
