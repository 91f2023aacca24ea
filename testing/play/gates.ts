import { SeededChance } from '../clock/seeded-chance.ts';

/** Where everything waits that could go on at the same time: one of them is let on at a time, in the order that the plan says. */
export class Gates {
  readonly #waiting: (() => void)[] = [];
  readonly #chance: SeededChance | null;

  /** `order`: 0 for the order of arrival, else the seed of choices. */
  constructor(order: number) {
    this.#chance = order === 0 ? null : new SeededChance(order);
  }

  /** Resolves when it is let on. */
  pass(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Lets one of them on. Whether there was one. */
  release(): boolean {
    const { length } = this.#waiting;
    if (length === 0) return false;
    const place = this.#chance === null ? 0 : Math.floor(this.#chance.random() * length);
    this.#waiting.splice(place, 1)[0]?.();
    return true;
  }
}
