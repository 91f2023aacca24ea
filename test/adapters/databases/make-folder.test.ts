import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../../adapters/databases/make-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('a folder is made with those above it, also beside somebody else who makes it, and stays what it is', async () => {
  const above = await temporaryFolder('turnlock-folder-');
  const folder = join(above, 'a', 'b', 'c');
  await Promise.all([makeFolder(folder), makeFolder(folder)]);
  await writeFile(join(folder, 'letter.txt'), 'mine');
  await makeFolder(folder);
  expect(await readdir(folder)).toEqual(['letter.txt']);
});

test('where none can be made that is said at once', async () => {
  const file = join(await temporaryFolder('turnlock-folder-'), 'file');
  await writeFile(file, '');
  await expect(makeFolder(file)).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolder(join(file, 'x', 'y'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  // Takes no folder, and says ENOENT where it is there: whoever then makes the one above tries for ever.
  await expect(makeFolder('/proc/turnlock/kept')).rejects.toThrow(/mkdir/);
});
