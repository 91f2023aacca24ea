import type { RoundTrip } from './counted-pool.ts';

/** What was sent to the database. */
export interface Cost {
  roundTrips: number;
  statements: number;
}

/** A transaction that ended in COMMIT. */
export interface TransactionCost extends Cost {
  /** Whether it changed a row. */
  readonly writes: boolean;
}

const CHANGES = new Set(['INSERT', 'UPDATE', 'DELETE']);

/** What all of `trips` cost. */
export function costOf(trips: readonly RoundTrip[]): Cost {
  return { roundTrips: trips.length, statements: trips.reduce((sum, { commands }) => sum + commands.length, 0) };
}

/** What each transaction of one connection cost, in order. */
export function transactionsOf(trips: readonly RoundTrip[]): TransactionCost[] {
  const ends = trips.flatMap(({ commands }, place) => (commands.includes('COMMIT') ? [place + 1] : []));
  return ends.map((end, index) => {
    const own = trips.slice(ends[index - 1] ?? 0, end);
    return { ...costOf(own), writes: own.some(({ commands }) => commands.some((command) => CHANGES.has(command))) };
  });
}
