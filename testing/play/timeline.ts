/** One line of what happened, oldest first. */
export interface TimelineEntry {
  /** Milliseconds since the run began, by the kit's clock. */
  at: number;
  /** Number of the process; `null`: outside of all of them. */
  process: number | null;
  what: string;
}

/** What happened in a run, across its processes. Silent where nobody will read it: most runs pass. */
export class Timeline {
  readonly entries: TimelineEntry[] = [];
  readonly isKept: boolean;
  readonly #now: () => number;

  constructor(isKept: boolean, now: () => number) {
    this.isKept = isKept;
    this.#now = now;
  }

  /** `what` is made only where somebody reads it. */
  note(process: number | null, what: () => string): void {
    if (this.isKept) this.entries.push({ at: this.#now(), process, what: what() });
  }
}
