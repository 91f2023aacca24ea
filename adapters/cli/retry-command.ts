import { Command } from 'commander';
import type { RetryCommandOptions } from './run-retry.ts';
import { optionsOf } from './shared-options.ts';

const EXAMPLES = `
Examples:
  $ turnlock retry SESSION --tenant acme --by ana
`;

/** `turnlock retry`. */
export function retryCommand(): Command {
  return new Command('retry')
    .description('begin a new run from the history of a session that FAILED')
    .argument('<session>', 'id of the session')
    .option('--tenant <tenant>', 'whose it is; looked up where it is left out, which the database records')
    .requiredOption('--by <who>', 'who says so, for the audit')
    .addHelpText('after', EXAMPLES)
    .action(async (session: string, _options, command: Command) => {
      const { runRetry } = await import('./run-retry.ts');
      await runRetry(session, optionsOf<RetryCommandOptions>(command));
    });
}
