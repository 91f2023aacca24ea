import { Command } from 'commander';
import type { ReleaseCommandOptions } from './run-release.ts';
import { optionsOf } from './shared-options.ts';

const EXAMPLES = `
Examples:
  $ turnlock release SESSION --tenant acme --by ana
`;

/** `turnlock release`. */
export function releaseCommand(): Command {
  return new Command('release')
    .description('take a session from a worker that hangs or is gone; any worker goes on with it')
    .argument('<session>', 'id of the session')
    .option('--tenant <tenant>', 'whose it is; looked up where it is left out, which the database records')
    .requiredOption('--by <who>', 'who says so, for the audit')
    .addHelpText('after', EXAMPLES)
    .action(async (session: string, _options, command: Command) => {
      const { runRelease } = await import('./run-release.ts');
      await runRelease(session, optionsOf<ReleaseCommandOptions>(command));
    });
}
