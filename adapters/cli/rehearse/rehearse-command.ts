import { Command } from 'commander';
import { optionsOf } from '../shared-options.ts';
import { whole } from '../whole.ts';
import type { RunRehearseOptions } from './run-rehearse.ts';

const MAX_SEED = 2 ** 32 - 1;

const EXAMPLES = `
The database is an embedded one in a temporary folder unless --database is given; a configuration is not read.
Exits with 1 unless every conversation came out as recorded. docs/rehearse.md describes file, method and report.

Examples:
  $ turnlock rehearse recorded.jsonl                          a kill for every 5 tool calls or so
  $ turnlock rehearse recorded.jsonl --kill-every 2 --seed 7  other and more kills
  $ turnlock rehearse --generate 20 > made-up.jsonl           recordings to try it with
`;

/** `turnlock rehearse`. */
export function rehearseCommand(): Command {
  return new Command('rehearse')
    .description('replay recorded conversations while the worker is killed again and again')
    .argument('[file]', 'one conversation a line, in the chat format of OpenAI')
    .option('--kill-every <calls>', 'one kill for so many tool calls on average; 0: none', whole(0, 1_000_000), 5)
    .option('--seed <number>', 'what the kills are drawn from', whole(0, MAX_SEED), 1)
    .option('--limit <conversations>', 'only the first so many', whole(1, 1_000_000))
    .option('--parallel <conversations>', 'so many under way at the same time', whole(1, 64), 8)
    .option('--tool-ms <milliseconds>', 'time that a tool takes', whole(0, 5_000), 25)
    .option('--max-seconds <seconds>', 'give up after so long', whole(1, 86_400), 900)
    .option('--generate <conversations>', 'print so many made-up recordings and run nothing', whole(1, 100_000))
    .addHelpText('after', EXAMPLES)
    .action(async (file: string | undefined, _options, command: Command) => {
      const { runRehearse } = await import('./run-rehearse.ts');
      await runRehearse(file, optionsOf<RunRehearseOptions>(command));
    });
}
