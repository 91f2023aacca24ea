import { SeededChance } from '../clock/seeded-chance.ts';

/**
 * Where everything waits that could go on at the same time. One of them is let on at a time, in the order that the plan says. `together`: where
 * transactions overlap, all at once, unless the plan has an order of its own.
 */
export class Gates {
  readonly together: boolean;
  #waiting: { isInTool: boolean; letOn(): void }[] = [];
  /** Who is slow: they go on last of all. */
  #slow: (() => void)[] = [];
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
    for (const { letOn } of this.#waiting.splice(0)) letOn();
    for (const letOn of this.#slow.splice(0)) letOn();
  }

  /** Resolves once nobody else gets any further: see {@link releaseSlow}. */
  passSlowly(): Promise<void> {
    if (this.#isOpen) return Promise.resolve();
    return new Promise((letOn) => this.#slow.push(letOn));
  }

  /** Lets on whoever has been slow for longest. Whether there was one. */
  releaseSlow(): boolean {
    const letOn = this.#slow.shift();
    letOn?.();
    return letOn !== undefined;
  }

  /** Resolves when it is let on. `isInTool`: it waits in a tool, which stays out meanwhile; that is the default. */
  pass({ isInTool = true }: { isInTool?: boolean } = {}): Promise<void> {
    if (this.#isOpen) return Promise.resolve();
    return new Promise((letOn) => this.#waiting.push({ isInTool, letOn }));
  }

  /** Lets one of them on, or all; `staysInTools`: those that wait elsewhere, by default any. Whether there was one. */
  release({ staysInTools = false }: { staysInTools?: boolean } = {}): boolean {
    const free = staysInTools ? this.#waiting.filter(({ isInTool }) => !isInTool) : this.#waiting;
    if (free.length === 0) return false;
    const isForAll = this.together && this.#chance === null;
    const place = isForAll || this.#chance === null ? 0 : Math.floor(this.#chance.random() * free.length);
    const goOn = isForAll ? free : free.slice(place, place + 1);
    this.#waiting = this.#waiting.filter((one) => !goOn.includes(one));
    for (const { letOn } of goOn) letOn();
    return true;
  }
}
