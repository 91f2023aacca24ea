import { Command } from 'commander';
import { optionsOf } from './shared-options.ts';

const EXAMPLES = `
Examples:
  $ turnlock recover
  $ turnlock recover --config ./support.config.ts --json
`;

/** `turnlock recover`. */
export function recoverCommand(): Command {
  return new Command('recover')
    .description('bring every session to rest that owes work and whose worker is gone')
    .addHelpText('after', EXAMPLES)
    .action(async (_options, command: Command) => {
      const { runRecover } = await import('./run-recover.ts');
      await runRecover(optionsOf(command));
    });
}
