import type { PGlite } from '@electric-sql/pglite';
import { TurnlockError } from '../../errors.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { claimDirectory, directoryInvalid, finishDirectory, prepareDirectory } from './pglite-directory.ts';
import type { PgliteOptions } from './pglite-options.ts';

/** An open PGlite and how to end it. */
export interface OpenPglite {
  readonly pglite: PGlite;
  readonly tookOverDeadHolder: boolean;
  /** Closes what was opened, then lets go of the directory. */
  end(): Promise<void>;
}

type Package = typeof import('@electric-sql/pglite');

/**
 * Opens PGlite in memory or on a directory, which it locks first: two processes on one directory would lose each other's commits in silence.
 *
 * @throws DATA_DIRECTORY_IN_USE, DATA_DIRECTORY_INVALID for a directory that must not be opened.
 */
export async function openPglite(loaded: Package, options: PgliteOptions, newId: () => string): Promise<OpenPglite> {
  const { directory } = options;
  if (options.instance !== undefined)
    return { pglite: options.instance, tookOverDeadHolder: false, end: async () => undefined };
  if (directory === undefined) {
    const pglite = await create(loaded, options, true);
    return { pglite, tookOverDeadHolder: false, end: () => pglite.close() };
  }
  await prepareDirectory(directory);
  const lock = await lockDirectory(directory, newId);
  try {
    return await openLocked(loaded, { ...options, directory }, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openLocked(
  loaded: Package,
  options: PgliteOptions & { directory: string },
  lock: DirectoryLock,
): Promise<OpenPglite> {
  const { directory } = options;
  const { isFresh, version } = await claimDirectory(directory);
  const pglite = await create(loaded, options, isFresh).catch((cause) => {
    throw directoryInvalid(
      directory,
      version === null ? 'an error of PGlite' : `files of PostgreSQL ${version} that PGlite cannot open`,
      'files that it made',
      cause,
    );
  });
  await finishDirectory(directory);
  return {
    pglite,
    tookOverDeadHolder: lock.tookOverDeadHolder,
    async end() {
      await pglite.close();
      await lock.release();
    },
  };
}

/** A cluster that was made beforehand opens in a fifth of the time that making one takes. */
async function create(
  { PGlite }: Package,
  { directory, extensions }: PgliteOptions,
  isFresh: boolean,
): Promise<PGlite> {
  const loadDataDir = isFresh ? await prepopulated() : undefined;
  return await PGlite.create({
    ...(directory === undefined ? {} : { dataDir: directory }),
    ...(extensions === undefined ? {} : { extensions }),
    ...(loadDataDir === undefined ? {} : { loadDataDir }),
  });
}

async function prepopulated(): Promise<Blob | undefined> {
  try {
    const { dataDir } = await import('@electric-sql/pglite-prepopulatedfs');
    return await dataDir();
  } catch {
    return undefined; // an optional package: without it the first start takes longer
  }
}

/** @throws OPTIONS_INVALID when the optional package is not installed. */
export async function loadPglite(): Promise<Package> {
  try {
    return await import('@electric-sql/pglite');
  } catch (cause) {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: 'database not accepted: pglite() (found no package @electric-sql/pglite, wanted it installed)',
      hint: 'Run `npm install @electric-sql/pglite @electric-sql/pglite-prepopulatedfs`.',
      cause,
    });
  }
}
