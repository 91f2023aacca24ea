import type { KitDatabase } from './kit-database.contract.ts';
import { openPgliteKitDatabase, sharedPglite, whileShared } from './pglite-database.ts';
import { openServerKitDatabase } from './server-database.ts';

/** Where a check is played: in PGlite, or in a database of its own on a server. */
export type PlayedOn = 'pglite' | { readonly url: string };

/** Makes the tables of the user's tools, before the first run. */
export type Prepare = (query: KitDatabase['query']) => Promise<void>;

/** Gives the database for the next run: another one where the last one had to be given up. */
export type NextDatabase = () => Promise<KitDatabase>;

/**
 * Runs a check where it is to be played, and leaves nothing open or behind, also where it throws. A PGlite without tables of the user's is
 * shared by all checks of the process.
 */
export async function onDatabase<Result>(
  playedOn: PlayedOn,
  prepare: Prepare | undefined,
  check: (next: NextDatabase) => Promise<Result>,
): Promise<Result> {
  if (playedOn === 'pglite' && prepare === undefined) return whileShared(() => check(sharedPglite));
  const open = () =>
    playedOn === 'pglite' ? openPgliteKitDatabase(prepare) : openServerKitDatabase(playedOn.url, prepare);
  let database: KitDatabase = await open();
  try {
    return await check(async () => {
      if (!database.isGivenUp) return database;
      await database.close();
      database = await open();
      return database;
    });
  } finally {
    await database.close();
  }
}
