import { setTimeout as pause } from 'node:timers/promises';
import type { Environment } from '../../environment.ts';
import { VirtualClock } from '../clock/virtual-clock.ts';

/** Sleeps of less than this do not wait for the clock: looks at what others do, and short back-offs. In milliseconds. */
const BRIEF_MS = 1_001;

/** How long they take, in milliseconds of real time. */
const MOMENT_MS = 1;

/** So many of these sleeps keep the Node process while nobody acts: who only looks whether a dead process goes on would keep it for ever. */
const HOLDING_SLEEPS = 500;

/** A clock that stands still until it is moved, for processes whose looks and short back-offs go on meanwhile. */
export class HarnessClock implements Pick<Environment, 'now' | 'monotonic' | 'sleep'> {
  readonly #startsAt: number;
  #clock: VirtualClock;
  /** How many sleep for a moment. */
  #brief = 0;
  /** Where they wait after it, while {@link hold} holds them. */
  readonly #held = new VirtualClock();
  #holds = 0;
  readonly #acts: () => number;
  #actsBefore = 0;
  /** How many of the sleeps for a moment began since somebody acted. */
  #idle = 0;

  /** `acts`: how often those who sleep by it have acted. */
  constructor(startsAt: number, acts: () => number) {
    this.#acts = acts;
    this.#startsAt = startsAt;
    this.#clock = new VirtualClock(startsAt);
  }

  /** Milliseconds since 1970. */
  now = (): number => this.#clock.now();
  /** Milliseconds since the harness began. */
  monotonic = (): number => this.#clock.monotonic();

  /** Resolves once the clock was moved that far; one of up to a second after a moment of real time. Rejects with the reason of `signal`. */
  sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    if (ms >= BRIEF_MS) return this.#clock.sleep(ms, signal);
    this.#brief += 1;
    try {
      await pause(ms <= 0 ? 0 : MOMENT_MS, undefined, { ref: this.#holdsProcess(), ...(signal && { signal }) });
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    } finally {
      this.#brief -= 1;
    }
    if (this.#holds > 0) await this.#held.sleep(0, signal);
  };

  #holdsProcess(): boolean {
    const acts = this.#acts();
    this.#idle = acts === this.#actsBefore ? this.#idle + 1 : 0;
    this.#actsBefore = acts;
    return this.#idle < HOLDING_SLEEPS;
  }

  /** Whether somebody goes on in a moment. */
  get isBrief(): boolean {
    return this.#brief > 0;
  }

  /** From here on whoever has slept for a moment goes on by {@link letOn} alone, until the returned function is called. */
  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
      if (this.#holds === 0) this.letOn();
    };
  }

  /** Lets everybody go on who has slept for a moment. Whether there was anybody. */
  letOn(): boolean {
    return this.#held.wakeDue();
  }

  /** Moves the time at once; nobody wakes before {@link wakeDue}. */
  jump(ms: number): void {
    this.#clock.jump(ms);
  }

  /** Wakes everybody whose time has come. Whether there was anybody. */
  wakeDue(): boolean {
    return this.#clock.wakeDue();
  }

  /** Begins anew: nobody sleeps by it. */
  restart(): void {
    this.#clock = new VirtualClock(this.#startsAt);
  }
}
