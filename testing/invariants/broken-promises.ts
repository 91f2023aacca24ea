import type { Broken } from '../play/play-plan.ts';

/** What was seen to be broken while a run was played, by the name of the promise: the first that was seen of each. */
export class BrokenPromises {
  readonly #seen = new Map<string, string>();

  note(invariant: string, message: string): void {
    if (!this.#seen.has(invariant)) this.#seen.set(invariant, message);
  }

  get first(): Broken | null {
    const [seen] = this.#seen;
    return seen === undefined ? null : { invariant: seen[0], message: seen[1] };
  }
}
