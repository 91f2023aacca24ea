import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { dataDir } from '@electric-sql/pglite-prepopulatedfs';
import type { TestProject } from 'vitest/node';
import { migratePglite } from './migrate-template.ts';
import { temporaryFolder } from './temporary-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** File that holds the data directory of a migrated PGlite, or why there is none. */
    pgliteSnapshot: { file: string } | { failure: string };
  }
}

/** Migrates one PGlite for the whole run and keeps its data directory in a file, from which every test's instance loads. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await temporaryFolder('turnlock-pglite-');
  const file = join(folder, 'migrated.tar');
  await makeSnapshot(file).then(
    () => project.provide('pgliteSnapshot', { file }),
    // Told by the tests that need it: those of an empty database still run, the migrations' own among them.
    (error) => project.provide('pgliteSnapshot', { failure: String(error.stack ?? error) }),
  );
  return () => rm(folder, { recursive: true, force: true });
}

async function makeSnapshot(file: string): Promise<void> {
  const pglite = await PGlite.create({ loadDataDir: await dataDir() });
  try {
    await migratePglite(pglite);
    const snapshot = await pglite.dumpDataDir('none');
    await writeFile(file, Buffer.from(await snapshot.arrayBuffer()));
  } finally {
    if (!pglite.closed) await pglite.close();
  }
}
