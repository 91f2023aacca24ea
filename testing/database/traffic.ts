/** One statement, connect or end of a connection that has no answer yet. */
export interface UnderWay {
  /** Whose statement it is, by the number of the server's process; `null` where there is none yet, or no more. */
  readonly backend: number | null;
}

/** What is under way between the processes of a run and their server, counted at both of its ends. */
export class Traffic {
  readonly #underWay = new Set<UnderWay>();
  #ended = 0;
  #tell: () => void = () => undefined;
  #next = this.#nextEnd();

  /** Counts `one` until the returned function is called; calling that again does nothing. */
  begin(one: UnderWay): () => void {
    this.#underWay.add(one);
    return () => {
      if (!this.#underWay.delete(one)) return;
      this.#ended += 1;
      this.#tell();
      this.#next = this.#nextEnd();
    };
  }

  /** Counts `work` until it has come to its end, in whichever way. */
  during(one: UnderWay, work: Promise<unknown>): void {
    const end = this.begin(one);
    work.then(end, end);
  }

  get isUnderWay(): boolean {
    return this.#underWay.size > 0;
  }

  /** How many have come to their end so far. */
  get ended(): number {
    return this.#ended;
  }

  /** Backends at work; `null` where something is under way that has none. */
  get backends(): number[] | null {
    const all = [...this.#underWay].map(({ backend }) => backend);
    return all.every((one) => one !== null) ? all : null;
  }

  /** Resolves when the next one comes to its end, or after `ms`. Whether one did. */
  async endsWithin(ms: number): Promise<boolean> {
    const before = this.#ended;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([this.#next, late]);
    clearTimeout(timer);
    return this.#ended !== before;
  }

  #nextEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#tell = resolve;
    });
  }
}
