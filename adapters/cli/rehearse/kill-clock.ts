import type { PlannedKill } from './kill-plan.ts';

/** Counts the calls that begin, and says when it is time to kill. */
export class KillClock {
  readonly #plan: () => PlannedKill;
  readonly #kill: () => void;
  #next: PlannedKill;
  #calls = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(plan: () => PlannedKill, kill: () => void) {
    this.#plan = plan;
    this.#kill = kill;
    this.#next = plan();
  }

  /** A call that was never begun before has begun. */
  callBegan(): void {
    this.#calls += 1;
    if (this.#calls < this.#next.afterCalls || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#strike(), this.#next.delayMs);
  }

  #strike(): void {
    const { nextDiesAfterMs } = this.#next;
    this.#calls -= this.#next.afterCalls;
    this.#timer = nextDiesAfterMs === null ? undefined : setTimeout(() => this.#strikeAgain(), nextDiesAfterMs);
    this.#next = this.#plan();
    this.#kill();
  }

  #strikeAgain(): void {
    this.#timer = undefined;
    this.#kill();
  }

  /** No kill comes after this. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#calls = Number.NEGATIVE_INFINITY;
  }
}
