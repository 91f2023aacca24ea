import { TurnlockError } from '../errors.ts';
import { checkOptions } from './check-options.ts';
import type { Recovery } from './recover.ts';
import { checkOpen, operate, type Services } from './services.ts';
import { Worker, type WorkerSettings } from './worker.ts';

/** What `start` takes. */
export interface WorkerOptions {
  /** How many sessions this process drives side by side as a worker, 1 to 1000. Default `limits.maxWorkerSessions`. */
  concurrency?: number;
  /**
   * Told of each session that the worker took over, once it rests, and of each that it could not continue. `skipped` is `RUNTIME_CLOSED`
   * for one that it gave back when it was stopped. What it throws, at once or
   * later, is a warning; it is not waited for. Default: nobody is told.
   */
  onSession?: (recovery: Recovery) => void;
}

/** The worker of one runtime: one at a time. `onWarning` must not throw: whoever is warned must not end the worker. */
export class WorkerControl {
  readonly #services: Services;
  readonly #onWarning: WorkerSettings['onWarning'];
  #running: { worker: Worker; options: WorkerOptions; ended: Promise<void> } | null = null;
  #stopping: Promise<void> | null = null;

  constructor(services: Services, onWarning: WorkerSettings['onWarning']) {
    this.#services = services;
    this.#onWarning = onWarning;
  }

  /** See `Runtime.start`. */
  async start(options: WorkerOptions = {}): Promise<void> {
    checkOpen(this.#services);
    const { concurrency = this.#services.store.limits.maxWorkerSessions, onSession = () => undefined } = checkOptions(
      options,
      'start',
      ['concurrency', 'onSession'],
    );
    if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 1_000)
      throw refuse('concurrency', 'a whole number from 1 to 1000');
    if (typeof onSession !== 'function') throw refuse('onSession', 'a function');
    while (this.#stopping !== null) await this.#stopping;
    if (this.#running !== null) return checkSame(this.#running.options, options);
    checkOpen(this.#services);
    const worker = new Worker(this.#services, { concurrency, onSession, onWarning: this.#onWarning });
    // `close` waits for it, as for everything that needs the database.
    const { signals } = this.#services;
    signals.log('worker.started', { concurrency });
    this.#running = {
      worker,
      options,
      ended: operate(this.#services, () => worker.run().finally(() => signals.log('worker.stopped'))),
    };
  }

  /** See `Runtime.stop`. */
  async stop(): Promise<void> {
    if (this.#running === null) return;
    const { worker, ended } = this.#running;
    worker.stop();
    this.#stopping ??= ended.finally(() => {
      this.#running = null;
      this.#stopping = null;
    });
    await this.#stopping;
  }
}

/** A second start is no second worker, and must not look as if it had been another one. */
function checkSame(running: WorkerOptions, asked: WorkerOptions): void {
  for (const name of ['concurrency', 'onSession'] as const) {
    if (asked[name] !== undefined && asked[name] !== running[name])
      throw refuse(name, 'what the worker that runs has; stop it first');
  }
}

function refuse(option: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', { message: `option not accepted: ${option} (wanted ${wanted})` });
}
