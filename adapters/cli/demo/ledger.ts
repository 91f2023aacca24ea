import { readFile } from 'node:fs/promises';

/** One line of the payments service's own ledger file. Times are ISO 8601, sums are cents. */
export type LedgerEntry = { at: string; key: string } & (
  | { kind: 'refundRequested'; orderId: string; cents: number }
  | { kind: 'refundBooked'; orderId: string; cents: number; refundId: string }
  /** The key was known: nothing was booked, the refund of then is the answer. */
  | { kind: 'refundRepeated'; refundId: string }
  /** Whoever asked was gone before the answer. */
  | { kind: 'answerLost' }
  | { kind: 'customerTold'; orderId: string; text: string }
);

/** The ledger as it stands on the disk; empty where nothing was written yet. */
export async function readLedger(file: string): Promise<LedgerEntry[]> {
  try {
    return parseLedger(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** The entries of a ledger's text. */
export function parseLedger(text: string): LedgerEntry[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LedgerEntry);
}

/** What of it concerns one order. */
export function entriesOfOrder(ledger: readonly LedgerEntry[], orderId: string): LedgerEntry[] {
  const keys = new Set(ledger.flatMap((entry) => ('orderId' in entry && entry.orderId === orderId ? [entry.key] : [])));
  return ledger.filter(({ key }) => keys.has(key));
}

/** Its entries of one kind. */
export function ofKind<Kind extends LedgerEntry['kind']>(
  ledger: readonly LedgerEntry[],
  kind: Kind,
): Extract<LedgerEntry, { kind: Kind }>[] {
  return ledger.filter((entry): entry is Extract<LedgerEntry, { kind: Kind }> => entry.kind === kind);
}
