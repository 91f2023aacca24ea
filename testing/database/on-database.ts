import type { KitDatabase } from './kit-database.contract.ts';
import { openPgliteKitDatabase } from './pglite-database.ts';
import { PgliteLoan } from './pglite-loan.ts';
import { openServerKitDatabase } from './server-database.ts';

/** Where a check is played: in PGlite, or in a database of its own on a server. */
export type PlayedOn = 'pglite' | { readonly url: string };

/** Makes the tables of the user's tools, before the first run. */
export type Prepare = (query: KitDatabase['query']) => Promise<void>;

/** Gives the database for the next run: another one where the last one had to be given up. */
export type NextDatabase = () => Promise<KitDatabase>;

/**
 * Runs a check where it is to be played, and leaves nothing open or behind, also where it throws. A PGlite without tables of the user's is
 * one that the next check has after this one.
 */
export async function onDatabase<Result>(
  playedOn: PlayedOn,
  prepare: Prepare | undefined,
  check: (next: NextDatabase) => Promise<Result>,
): Promise<Result> {
  if (playedOn === 'pglite' && prepare === undefined) return onLoan(check);
  const open = () =>
    playedOn === 'pglite' ? openPgliteKitDatabase(prepare) : openServerKitDatabase(playedOn.url, prepare);
  let database: KitDatabase = await open();
  try {
    return await check(async () => {
      if (!database.isGivenUp) return database;
      const given = database;
      database = await open();
      void given.close().catch(() => undefined); // whoever holds its connection may hold it for ever
      return database;
    });
  } finally {
    const closed = database.close();
    if (database.isGivenUp) closed.catch(() => undefined);
    else await closed;
  }
}

async function onLoan<Result>(check: (next: NextDatabase) => Promise<Result>): Promise<Result> {
  const loan = new PgliteLoan();
  try {
    return await check(() => loan.database());
  } finally {
    loan.giveBack();
  }
}
