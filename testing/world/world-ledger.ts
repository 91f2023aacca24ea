/** Something that was done in the outside world. */
export interface WorldAct {
  /** What was done, in words. */
  what: string;
  /** Whatever tells one wanted act from another; `null`: it had no key. */
  key: string | null;
  /** All else that is to be remembered of it. */
  details: unknown;
}

/**
 * The outside world of a test (a bank, a post office), which remembers every act in order. It outlives the processes that act on it. As it is, it
 * does whatever it is asked; `isIdempotent`: what comes with a key that it has seen it does not do again.
 */
export class WorldLedger {
  /** Every act that took effect, oldest first. */
  readonly acts: WorldAct[] = [];
  /** Every request that did nothing, since its key had been seen. Always empty where the world is not idempotent. */
  readonly repeats: WorldAct[] = [];
  readonly #isIdempotent: boolean;

  constructor({ isIdempotent = false }: { isIdempotent?: boolean } = {}) {
    this.#isIdempotent = isIdempotent;
  }

  /** Acts. Whether it was new: without a key it always is. */
  act({ what, key = null, details = null }: { what: string; key?: string | null; details?: unknown }): boolean {
    const isNew = key === null || this.actsOf(key).length === 0;
    const list = isNew || !this.#isIdempotent ? this.acts : this.repeats;
    list.push({ what, key, details });
    return isNew;
  }

  /** The acts that took effect with this key. */
  actsOf(key: string): WorldAct[] {
    return this.acts.filter((act) => act.key === key);
  }
}
