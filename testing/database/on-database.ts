import { type LentDatabase, lendDatabase, type PlayedOn, type Prepare } from './lend-database.ts';

/** Gives the database for the next run: another one where the last one had to be given up. */
export type NextDatabase = LentDatabase['next'];

/** Runs a check where it is to be played, and leaves nothing open or behind, also where it throws. */
export async function onDatabase<Result>(
  playedOn: PlayedOn,
  prepare: Prepare | undefined,
  check: (next: NextDatabase) => Promise<Result>,
): Promise<Result> {
  const lent = lendDatabase(playedOn, prepare);
  try {
    await lent.next();
    return await check(lent.next);
  } finally {
    await lent.end();
  }
}
