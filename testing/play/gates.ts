import { SeededChance } from '../clock/seeded-chance.ts';

/**
 * Where everything waits that could go on at the same time. Where all take turns on one connection one of them is let on at a time, in the
 * order that the plan says. `together`: also all at once, so that what they ask of a server overlaps.
 */
export class Gates {
  readonly together: boolean;
  #waiting: (() => void)[] = [];
  readonly #chance: SeededChance | null;

  /** `order`: 0 for the order of arrival (all at once, where they go together), else the seed of choices. */
  constructor(order: number, together = false) {
    this.#chance = order === 0 ? null : new SeededChance(order);
    this.together = together;
  }

  /** Resolves when it is let on. */
  pass(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Lets one of them on, or all. Whether there was one. */
  release(): boolean {
    const { length } = this.#waiting;
    if (length === 0) return false;
    if (this.together && (this.#chance === null || this.#chance.random() < 0.5)) {
      const all = this.#waiting;
      this.#waiting = [];
      for (const goOn of all) goOn();
      return true;
    }
    const place = this.#chance === null ? 0 : Math.floor(this.#chance.random() * length);
    this.#waiting.splice(place, 1)[0]?.();
    return true;
  }
}
