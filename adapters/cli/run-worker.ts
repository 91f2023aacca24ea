import { once } from 'node:events';
import { readSettings } from './read-settings.ts';
import { printRecovery } from './recovery-line.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal } from './terminal.ts';
import { withRuntime } from './with-runtime.ts';

/** What `turnlock worker` takes. */
export interface WorkerCommandOptions {
  concurrency?: number;
}

/** Does what `turnlock worker` says: it returns once a signal has come and everything here is drained. */
export async function runWorker({ concurrency, ...options }: SharedOptions & WorkerCommandOptions): Promise<void> {
  const terminal = openTerminal(options);
  const settings = await readSettings(options, { agents: true, mustExist: true });
  await withRuntime(settings, terminal, async (runtime, stopping) => {
    if (stopping.aborted) return;
    await runtime.start({
      ...(concurrency === undefined ? {} : { concurrency }),
      onSession: (recovery) => printRecovery(terminal, recovery),
    });
    terminal.note('Working. SIGINT or SIGTERM lets what is under way come to its end and hands the rest over.');
    if (!stopping.aborted) await once(stopping, 'abort');
  });
}
