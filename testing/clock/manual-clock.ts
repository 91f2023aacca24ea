import { inspect } from 'node:util';
import { type Environment, systemEnvironment } from '../../environment.ts';
import { TurnlockError } from '../../errors.ts';

interface Sleeper {
  endsAt: number;
  wake(): void;
}

/** An environment whose time goes by itself, and jumps when a test says so: whoever sleeps into the jump wakes at once. */
export class ManualClock implements Environment {
  readonly #sleepers = new Set<Sleeper>();
  #offsetMs = 0;

  now = (): number => systemEnvironment.now() + this.#offsetMs;
  monotonic = (): number => systemEnvironment.monotonic() + this.#offsetMs;
  uuid = (): string => systemEnvironment.uuid();
  random = (): number => systemEnvironment.random();
  faultPoint = (): void => undefined;

  sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    const jump = new AbortController();
    const sleeper = { endsAt: this.monotonic() + ms, wake: () => jump.abort() };
    this.#sleepers.add(sleeper);
    try {
      await systemEnvironment.sleep(ms, AbortSignal.any([jump.signal, ...(signal ? [signal] : [])]));
    } catch (error) {
      if (signal?.aborted || !jump.signal.aborted) throw error;
    } finally {
      this.#sleepers.delete(sleeper);
    }
  };

  /** How long everybody who sleeps will go on to, in milliseconds. */
  get sleepsMs(): number[] {
    const now = this.monotonic();
    return [...this.#sleepers].map(({ endsAt }) => endsAt - now);
  }

  /** The longest of them; 0 when all are awake. */
  get longestSleepMs(): number {
    return Math.max(0, ...this.sleepsMs);
  }

  /** Lets this many milliseconds pass at once. @throws OPTIONS_INVALID for what is no number of them from 0 on: time would stand still for ever. */
  advance(ms: number): void {
    if (!(Number.isFinite(ms) && ms >= 0)) {
      throw new TurnlockError('OPTIONS_INVALID', {
        message: `time not accepted: ${inspect(ms)} (wanted milliseconds from 0 on)`,
      });
    }
    this.#offsetMs += ms;
    const now = this.monotonic();
    for (const sleeper of this.#sleepers) if (sleeper.endsAt <= now) sleeper.wake();
  }
}
