import type { KitDatabase } from './kit-database.contract.ts';
import { openPgliteKitDatabase } from './pglite-database.ts';
import { PgliteLoan } from './pglite-loan.ts';
import { openServerKitDatabase } from './server-database.ts';

/** Where a check is played: in PGlite, or in a database of its own on a server. */
export type PlayedOn = 'pglite' | { readonly url: string };

/** Makes the tables of the user's tools, before the first run. */
export type Prepare = (query: KitDatabase['query']) => Promise<void>;

/** Whether it names a place to play. */
export function isPlayedOn(value: unknown): value is PlayedOn {
  if (value === 'pglite') return true;
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 1) return false;
  return typeof (value as { url?: unknown }).url === 'string';
}

/** A database that one check, or one harness, has to itself. */
export interface LentDatabase {
  /** It; another one where it had to be given up. */
  next(): Promise<KitDatabase>;
  /** Ends the loan: nothing of it is open or left behind. */
  end(): Promise<void>;
}

/** A PGlite without tables of the user's is one that the next check has after this one. */
export function lendDatabase(playedOn: PlayedOn, prepare?: Prepare): LentDatabase {
  if (playedOn === 'pglite' && prepare === undefined) {
    const loan = new PgliteLoan();
    return { next: () => loan.database(), end: async () => loan.giveBack() };
  }
  const open = (): Promise<KitDatabase> =>
    playedOn === 'pglite' ? openPgliteKitDatabase(prepare) : openServerKitDatabase(playedOn.url, prepare);
  let opened: Promise<KitDatabase> | undefined;
  return {
    async next() {
      opened ??= open();
      const database = await opened;
      if (!database.isGivenUp) return database;
      void database.close().catch(() => undefined); // whoever holds its connection may hold it for ever
      opened = open();
      return opened;
    },
    async end() {
      const database = await opened?.catch(() => undefined);
      const closed = database?.close();
      if (database?.isGivenUp) closed?.catch(() => undefined);
      else await closed;
    },
  };
}
