import { Command } from 'commander';
import { optionsOf } from '../shared-options.ts';
import type { ReplayOptions } from './run-replay.ts';

const EXAMPLES = `
Examples:
  $ turnlock replay 4f9c6a3e-0d55-4c3b-9a53-0a4a2c1c7b10 --tenant acme
  $ turnlock replay 4f9c6a3e-0d55-4c3b-9a53-0a4a2c1c7b10 --json | jq '.entries[] | select(.tool == "refund")'
`;

/** `turnlock replay`. */
export function replayCommand(): Command {
  return new Command('replay')
    .description(
      'tell what happened in a session, in order, and fold its events to see whether they lead to what is stored',
    )
    .argument('<session>', 'id of the session')
    .option('--tenant <tenant>', 'whose it is; looked up where it is left out, which the database records')
    .option('--full', 'cut nothing')
    .addHelpText('after', EXAMPLES)
    .action(async (session: string, _options, command: Command) => {
      const { runReplay } = await import('./run-replay.ts');
      await runReplay(session, optionsOf<ReplayOptions>(command));
    });
}
