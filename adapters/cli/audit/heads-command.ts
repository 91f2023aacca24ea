import { Command } from 'commander';
import { optionsOf } from '../shared-options.ts';
import type { HeadsOptions } from './run-heads.ts';

const EXAMPLES = `
Examples:
  $ turnlock heads --tenant acme --json > heads-2026-11-29.jsonl
  $ turnlock heads --tenant acme --check heads-2026-11-29.jsonl
`;

/** `turnlock heads`. */
export function headsCommand(): Command {
  return new Command('heads')
    .description('print the last hash of each session, to be kept elsewhere, or compare with those that were')
    .option('--tenant <tenant>', 'whose sessions; may be left out on an embedded database, for all')
    .option('--check <file>', 'compare with a file of JSON lines that this command printed; - reads standard input')
    .addHelpText('after', EXAMPLES)
    .action(async (_options, command: Command) => {
      const { runHeads } = await import('./run-heads.ts');
      await runHeads(optionsOf<HeadsOptions>(command));
    });
}
