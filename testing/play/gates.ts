import { SeededChance } from '../clock/seeded-chance.ts';

/** Where everything waits that could go on at the same time: one of them is let on at a time, in the order that the plan says. */
export class Gates {
  readonly #waiting: { isInTool: boolean; letOn(): void }[] = [];
  readonly #chance: SeededChance | null;

  /** `order`: 0 for the order of arrival, else the seed of choices. */
  constructor(order: number) {
    this.#chance = order === 0 ? null : new SeededChance(order);
  }

  /** Resolves when it is let on. `isInTool`: it waits in a tool, which stays out meanwhile; that is the default. */
  pass({ isInTool = true }: { isInTool?: boolean } = {}): Promise<void> {
    return new Promise((letOn) => this.#waiting.push({ isInTool, letOn }));
  }

  /** Lets one of them on; `staysInTools`: one that waits elsewhere, by default any. Whether there was one. */
  release({ staysInTools = false }: { staysInTools?: boolean } = {}): boolean {
    const free = staysInTools ? this.#waiting.filter(({ isInTool }) => !isInTool) : this.#waiting;
    const place = this.#chance === null ? 0 : Math.floor(this.#chance.random() * free.length);
    const one = free[place];
    if (one === undefined) return false;
    this.#waiting.splice(this.#waiting.indexOf(one), 1);
    one.letOn();
    return true;
  }
}
