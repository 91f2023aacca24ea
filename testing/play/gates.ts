import { SeededChance } from '../clock/seeded-chance.ts';

/**
 * Where everything waits that could go on at the same time. One of them is let on at a time, in the order that the plan says. `together`: where
 * transactions overlap, all at once, unless the plan has an order of its own.
 */
export class Gates {
  readonly together: boolean;
  readonly #waiting: (() => void)[] = [];
  readonly #chance: SeededChance | null;
  #isOpen = false;

  /** `order`: 0 for the order of arrival (all at once, where they go together), else the seed of choices. */
  constructor(order: number, together = false) {
    this.#chance = order === 0 ? null : new SeededChance(order);
    this.together = together;
  }

  /** Whether each statement of a transaction is a step of its own: then which of them comes first follows from the plan, on a server too. */
  get stepwise(): boolean {
    return this.together && this.#chance !== null && !this.#isOpen;
  }

  /** From here on nobody waits: who waits already is let on. */
  open(): void {
    this.#isOpen = true;
    for (const goOn of this.#waiting.splice(0)) goOn();
  }

  /** Resolves when it is let on. */
  pass(): Promise<void> {
    if (this.#isOpen) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Lets one of them on, or all. Whether there was one. */
  release(): boolean {
    const { length } = this.#waiting;
    if (length === 0) return false;
    if (this.together && this.#chance === null) {
      for (const goOn of this.#waiting.splice(0)) goOn();
      return true;
    }
    const place = this.#chance === null ? 0 : Math.floor(this.#chance.random() * length);
    this.#waiting.splice(place, 1)[0]?.();
    return true;
  }
}
