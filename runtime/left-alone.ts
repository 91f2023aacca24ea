/** Sessions that nobody here looks at for a while, so that what cannot be driven neither spins nor keeps others waiting. */
export class LeftAlone {
  /** Session id, and the monotonic time until when. */
  readonly #until = new Map<string, number>();

  /** Leaves a session alone until the monotonic time `until`. */
  add(sessionId: string, until: number): void {
    this.#until.set(sessionId, until);
  }

  /** Those that are left alone at the monotonic time `now`; the others are forgotten. */
  at(now: number): string[] {
    for (const [sessionId, until] of this.#until) if (until <= now) this.#until.delete(sessionId);
    return [...this.#until.keys()];
  }

  /** The monotonic time at which the next one is looked at again; `Infinity` when none is left alone. */
  get nextAt(): number {
    return Math.min(...this.#until.values(), Number.POSITIVE_INFINITY);
  }
}
