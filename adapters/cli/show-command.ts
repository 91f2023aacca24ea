import { Command } from 'commander';
import type { ShowOptions } from './run-show.ts';
import { optionsOf } from './shared-options.ts';

const EXAMPLES = `
Examples:
  $ turnlock show 4f9c6a3e-0d55-4c3b-9a53-0a4a2c1c7b10 --tenant acme
  $ turnlock show 4f9c6a3e-0d55-4c3b-9a53-0a4a2c1c7b10 --json | jq .waiting
  $ turnlock show 4f9c6a3e-0d55-4c3b-9a53-0a4a2c1c7b10 --audit --json > audit.jsonl
`;

/** `turnlock show`. */
export function showCommand(): Command {
  return new Command('show')
    .description('show a session: state, turns, calls, transitions, and what it waits for')
    .argument('<session>', 'id of the session')
    .option('--tenant <tenant>', 'whose it is; looked up where it is left out, which the database records')
    .option('--full', 'cut nothing')
    .option(
      '--audit',
      'the audit instead: each transition with who, worker, message and hash; with --json, all that is hashed',
    )
    .addHelpText('after', EXAMPLES)
    .action(async (session: string, _options, command: Command) => {
      const { runShow } = await import('./run-show.ts');
      await runShow(session, optionsOf<ShowOptions>(command));
    });
}
