import { Command } from 'commander';
import type { ExplainOptions } from './run-explain.ts';
import { optionsOf } from './shared-options.ts';

const EXAMPLES = `
Examples:
  $ turnlock explain 4f9c6a3e-0d55-4c3b-9a53-0a4a2c1c7b10 --tenant acme
  $ turnlock explain 4f9c6a3e-0d55-4c3b-9a53-0a4a2c1c7b10 --json | jq -r '.waitsFor[].commands[]'
`;

/** `turnlock explain`. */
export function explainCommand(): Command {
  return new Command('explain')
    .description('say what a session waits for, since when, and the command that unblocks it')
    .argument('<session>', 'id of the session')
    .option('--tenant <tenant>', 'whose it is; looked up where it is left out, which the database records')
    .addHelpText('after', EXAMPLES)
    .action(async (session: string, _options, command: Command) => {
      const { runExplain } = await import('./run-explain.ts');
      await runExplain(session, optionsOf<ExplainOptions>(command));
    });
}
