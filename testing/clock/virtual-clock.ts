import type { Environment } from '../../environment.ts';
import { POLL_MS } from '../../runtime/rest-of-run.ts';

interface Sleeper {
  endsAt: number;
  /** Whether it only looks at what others do, again and again. */
  isPoll: boolean;
  wake(): void;
}

/** When the time of a run begins: in the morning of a day far from every date that a test may know. */
export const BEGIN_MS = Date.UTC(2030, 0, 1, 9, 30);

/** A clock that stands still until it is moved: nothing that sleeps by it waits in real time. */
export class VirtualClock implements Pick<Environment, 'now' | 'monotonic' | 'sleep'> {
  readonly #sleepers = new Set<Sleeper>();
  readonly #beginMs: number;
  #nowMs: number;

  /** `beginMs`: milliseconds since 1970. Default: the begin of every run of the kit. */
  constructor(beginMs = BEGIN_MS) {
    this.#beginMs = beginMs;
    this.#nowMs = beginMs;
  }

  now = (): number => this.#nowMs;
  monotonic = (): number => this.#nowMs - this.#beginMs;

  /** Resolves once the clock was moved that far and {@link wakeDue} was called; rejects with the reason of `signal`. */
  sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const end = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        end();
        reject(signal?.reason);
      };
      const wake = (): void => {
        end();
        resolve();
      };
      const sleeper = { endsAt: this.#nowMs + Math.max(0, ms), isPoll: ms === POLL_MS, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', abort, { once: true });
    });

  /** Milliseconds until the next one wakes that does more than to look again; infinite where nobody does. */
  get nextWakeInMs(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { endsAt, isPoll } of this.#sleepers) if (!isPoll) next = Math.min(next, endsAt - this.#nowMs);
    return Math.max(0, next);
  }

  /** Moves the time at once, like a clock that jumps: nobody wakes at a moment between. */
  jump(ms: number): void {
    this.#nowMs += ms;
  }

  /** Wakes everybody whose time has come, in the order in which it came. Whether there was anybody. */
  wakeDue(): boolean {
    const due = [...this.#sleepers].filter(({ endsAt }) => endsAt <= this.#nowMs);
    for (const { wake } of due.sort((one, other) => one.endsAt - other.endsAt)) wake();
    return due.length > 0;
  }
}
