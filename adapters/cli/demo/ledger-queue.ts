import type { Committed } from './committed.ts';
import type { LedgerEntry } from './ledger.ts';

/** Which tool asks the payments service for an entry; an entry that follows another one needs none. */
const ASKED_BY: Partial<Record<LedgerEntry['kind'], string>> = {
  refundRequested: 'refund',
  customerTold: 'notifyCustomer',
};

/**
 * Puts the news of two processes in the order in which they happened. A tool is only called once its start is committed, but the news of
 * the commit comes by way of the tables and may arrive after the news of what the tool did: such entries wait for it.
 */
export class LedgerQueue {
  readonly #tell: (entry: LedgerEntry, arrivedAt: number) => void;
  readonly #waiting: { entry: LedgerEntry; arrivedAt: number }[] = [];
  readonly #starts = new Map<string, number>();

  constructor(tell: (entry: LedgerEntry, arrivedAt: number) => void) {
    this.#tell = tell;
  }

  /** News of the payments service. */
  add(entry: LedgerEntry, arrivedAt: number): void {
    this.#waiting.push({ entry, arrivedAt });
    this.#release();
  }

  /** News of a commit: called once it has been told. */
  started({ started }: Pick<Committed, 'started'>): void {
    for (const tool of started) this.#starts.set(tool, (this.#starts.get(tool) ?? 0) + 1);
    this.#release();
  }

  #release(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const tool = ASKED_BY[first.entry.kind];
      const starts = tool === undefined ? 1 : (this.#starts.get(tool) ?? 0);
      if (starts === 0) return;
      if (tool !== undefined) this.#starts.set(tool, starts - 1);
      this.#waiting.shift();
      this.#tell(first.entry, first.arrivedAt);
    }
  }
}
