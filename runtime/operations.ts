import { TurnlockError } from '../errors.ts';

/** What is under way in one runtime and needs its database, so that `close` can wait for it. */
export class Operations {
  readonly #running = new Set<Promise<unknown>>();
  #isOver = false;

  /** Runs `work` to its end before the database is closed. @throws RUNTIME_CLOSED once that has happened. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isOver) throw new TurnlockError('RUNTIME_CLOSED', { message: 'runtime is closed' });
    const running = work();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Resolves when nothing runs any more, what began meanwhile included; from then on nothing does. */
  async end(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    this.#isOver = true;
  }
}
