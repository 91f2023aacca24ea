import { Command } from 'commander';
import type { EraseCommandOptions } from './run-erase.ts';
import { optionsOf } from './shared-options.ts';

const EXAMPLES = `
Examples:
  $ turnlock erase --tenant acme --user ana --by "request 4711" --dry-run
  $ turnlock erase --tenant acme --user ana --by "request 4711" --cancel-runs
`;

/** `turnlock erase`. */
export function eraseCommand(): Command {
  return new Command('erase')
    .description('erase what one user said and what was said of it; ends the user’s sessions')
    .requiredOption('--tenant <tenant>', 'whose user')
    .requiredOption('--user <user>', 'id of the user')
    .requiredOption('--by <who>', 'who asks for it; the audit keeps it')
    .option('--cancel-runs', 'cancel runs that are under way or wait for a person; without it their sessions are left')
    .option('--dry-run', 'count what would be erased, and erase nothing')
    .addHelpText('after', EXAMPLES)
    .action(async (_options, command: Command) => {
      const { runErase } = await import('./run-erase.ts');
      await runErase(optionsOf<EraseCommandOptions>(command));
    });
}
