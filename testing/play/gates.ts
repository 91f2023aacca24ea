import { SeededChance } from '../clock/seeded-chance.ts';

/**
 * Where everything waits that could go on at the same time. Where all take turns on one connection one of them is let on at a time, in the
 * order that the plan says. `together`: also all at once, so that what they ask of a server overlaps.
 */
export class Gates {
  readonly together: boolean;
  #waiting: { isInTool: boolean; letOn(): void }[] = [];
  readonly #chance: SeededChance | null;

  /** `order`: 0 for the order of arrival (all at once, where they go together), else the seed of choices. */
  constructor(order: number, together = false) {
    this.#chance = order === 0 ? null : new SeededChance(order);
    this.together = together;
  }

  /** Resolves when it is let on. `isInTool`: it waits in a tool, which stays out meanwhile; that is the default. */
  pass({ isInTool = true }: { isInTool?: boolean } = {}): Promise<void> {
    return new Promise((letOn) => this.#waiting.push({ isInTool, letOn }));
  }

  /** Lets one of them on, or all; `staysInTools`: those that wait elsewhere, by default any. Whether there was one. */
  release({ staysInTools = false }: { staysInTools?: boolean } = {}): boolean {
    const free = staysInTools ? this.#waiting.filter(({ isInTool }) => !isInTool) : this.#waiting;
    if (free.length === 0) return false;
    const isForAll = this.together && (this.#chance === null || this.#chance.random() < 0.5);
    const place = isForAll || this.#chance === null ? 0 : Math.floor(this.#chance.random() * free.length);
    const goOn = isForAll ? free : free.slice(place, place + 1);
    this.#waiting = this.#waiting.filter((one) => !goOn.includes(one));
    for (const { letOn } of goOn) letOn();
    return true;
  }
}
