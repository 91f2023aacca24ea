import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TurnlockError } from '../../errors.ts';
import { LOCK_FILE } from './directory-lock.ts';
import { makeFolder } from './make-folder.ts';

/** Stands in a directory from before its first file until PostgreSQL runs on it: whoever finds it may begin again. */
const UNFINISHED = 'turnlock.unfinished';

/** What was found in a directory, by the holder of its lock. */
export interface DirectoryState {
  /** Whether PostgreSQL's files have to be made. */
  readonly isFresh: boolean;
  /** PostgreSQL's major version that made the files. */
  readonly version: string | null;
}

/**
 * Makes the directory where it is missing.
 *
 * @throws DATA_DIRECTORY_INVALID when the path is no directory, may not be written, or holds something else than PostgreSQL's files. Looked
 * at before the lock is taken, so that nothing is written into a directory of somebody else's.
 */
export async function prepareDirectory(directory: string): Promise<void> {
  await orInvalid(directory, () => makeFolder(directory));
  const names = await orInvalid(directory, () => readdir(directory));
  if (names.includes('PG_VERSION') || names.includes(UNFINISHED) || names.every((name) => LOCK_FILE.test(name))) return;
  throw directoryInvalid(directory, 'other files', 'an empty directory, or one of PGlite');
}

/** Looks what is there, and clears away what a process left that died while it made the directory. Call it as the lock's holder only. */
export async function claimDirectory(directory: string): Promise<DirectoryState> {
  const names = await orInvalid(directory, () => readdir(directory));
  if (!names.includes('PG_VERSION') || names.includes(UNFINISHED)) {
    const leftovers = names.filter((name) => !LOCK_FILE.test(name) && name !== UNFINISHED);
    await orInvalid(directory, () => writeFile(join(directory, UNFINISHED), ''));
    await Promise.all(leftovers.map((name) => rm(join(directory, name), { recursive: true, force: true })));
    return { isFresh: true, version: null };
  }
  const version = await orInvalid(directory, () => readFile(join(directory, 'PG_VERSION'), 'utf8'));
  return { isFresh: false, version: version.trim() };
}

/** PostgreSQL runs on it: from now on it is kept. */
export async function finishDirectory(directory: string): Promise<void> {
  await rm(join(directory, UNFINISHED), { force: true });
}

/** The error of a directory that cannot be worked with. */
export function directoryInvalid(directory: string, found: string, wanted: string, cause?: unknown): TurnlockError {
  return new TurnlockError('DATA_DIRECTORY_INVALID', {
    message: `data directory cannot be used: ${directory} (found ${found}, wanted ${wanted})`,
    details: { directory },
    cause,
  });
}

async function orInvalid<Result>(directory: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw directoryInvalid(
      directory,
      (error as NodeJS.ErrnoException).code ?? 'an error',
      'a directory that can be read and written',
      error,
    );
  }
}
