import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';

/** What the payments service did, one line of its ledger each. Times are ISO 8601, sums are cents; `request` counts requests from 1. */
export type LedgerEntry = { at: string; request: number } & (
  | { type: 'asked'; orderId: string; cents: number; key: string | null; token: number | null; scope: string | null }
  | { type: 'booked'; orderId: string; cents: number; key: string | null; refundId: string }
  /** The key was known: nothing was booked, the refund of then is the answer. */
  | { type: 'repeated'; key: string; refundId: string }
  /** Nothing was booked. */
  | { type: 'refused'; why: 'failure' | 'lost' | 'staleToken' | 'otherContent' }
  /** Whoever asked was gone before the answer. */
  | { type: 'answerLost' }
  /** A question, which changes nothing. */
  | { type: 'looked'; path: string }
);

/** An entry as it is handed to the ledger, which sets its time. */
export type NewEntry = {
  [Type in LedgerEntry['type']]: Omit<Extract<LedgerEntry, { type: Type }>, 'at'>;
}[LedgerEntry['type']];

/** A file to which entries are appended; each is on the disk before `write` returns. */
export class Ledger {
  readonly #file: number;
  readonly #onEntry: (entry: LedgerEntry) => void;
  /** What stands in the file, oldest first. */
  readonly entries: LedgerEntry[];

  /** Opens the file or makes it. A last line that was not finished was answered to nobody: it is cut off. */
  constructor(path: string, onEntry: (entry: LedgerEntry) => void) {
    this.#file = openSync(path, 'a+');
    this.#onEntry = onEntry;
    const bytes = readFileSync(this.#file);
    const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1);
    if (whole.length < bytes.length) ftruncateSync(this.#file, whole.length);
    this.entries = parseLedger(whole.toString('utf8'));
  }

  write(entry: NewEntry): void {
    const written = { at: new Date().toISOString(), ...entry } as LedgerEntry;
    writeSync(this.#file, `${JSON.stringify(written)}\n`);
    fsyncSync(this.#file);
    this.entries.push(written);
    this.#onEntry(written);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** The entries of a ledger's text. */
export function parseLedger(text: string): LedgerEntry[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as LedgerEntry);
}
