import { Command } from 'commander';
import type { WorkerCommandOptions } from './run-worker.ts';
import { optionsOf } from './shared-options.ts';
import { whole } from './whole.ts';

const MAX_CONCURRENCY = 1_000;

const EXAMPLES = `
Examples:
  $ turnlock worker
  $ turnlock worker --config ./support.config.ts --concurrency 20
  $ turnlock worker --json >> sessions.jsonl
`;

/** `turnlock worker`. */
export function workerCommand(): Command {
  return new Command('worker')
    .description('bring sessions to rest that owe work, until it is stopped')
    .option(
      '--concurrency <sessions>',
      `how many side by side, up to ${MAX_CONCURRENCY} (default: maxWorkerSessions of the limits, 8)`,
      whole(1, MAX_CONCURRENCY),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (_options, command: Command) => {
      const { runWorker } = await import('./run-worker.ts');
      await runWorker(optionsOf<WorkerCommandOptions>(command));
    });
}
