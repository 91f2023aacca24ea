import { readFile } from 'node:fs/promises';
import { type Extensions, PGlite } from '@electric-sql/pglite';
import { dataDir } from '@electric-sql/pglite-prepopulatedfs';
import { inject } from 'vitest';
import { atTestEnd } from './at-test-end.ts';

/** What the instance holds. */
export interface FreshPgliteOptions {
  /** `migrated`: the run's migrated snapshot (default). `empty`: nothing of ours. */
  readonly state?: 'migrated' | 'empty';
  /** Extensions of PGlite beside those that it has. */
  readonly extensions?: Extensions;
}

/** Small buffers: a new instance clears them all, which with the default of 128 MB is most of the time that it takes. */
const SMALL = ['shared_buffers=4MB', 'wal_buffers=1MB'].flatMap((setting) => ['-c', setting]);

/** Makes an in-memory PGlite for the current test (or file, in `beforeAll`), closed at the end. */
export async function freshPglite(options: FreshPgliteOptions = {}): Promise<PGlite> {
  const snapshot = options.state === 'empty' ? await dataDir() : await readSnapshot();
  const pglite = await PGlite.create({
    loadDataDir: snapshot,
    ...(options.extensions === undefined ? {} : { extensions: options.extensions }),
    startParams: [...PGlite.defaultStartParams, ...SMALL],
  });
  atTestEnd(async () => {
    if (!pglite.closed) await pglite.close();
  });
  return pglite;
}

async function readSnapshot(): Promise<Blob> {
  const snapshot = inject('pgliteSnapshot');
  if ('failure' in snapshot) throw new Error(`the migrated snapshot could not be made: ${snapshot.failure}`);
  return new Blob([await readFile(snapshot.file)]);
}
