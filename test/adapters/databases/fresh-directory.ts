import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atTestEnd } from '../../support/at-test-end.ts';

/** Makes an empty folder for the current test, and removes it at the end. */
export async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'turnlock-data-'));
  atTestEnd(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
