import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder, and those above it, where they are missing. Not by the `recursive` of Node: that tries for ever where the folder above is
 * there and takes none, as `/proc`.
 *
 * @throws what the file system says.
 */
export async function makeFolder(folder: string): Promise<void> {
  try {
    return await makeOne(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) throw error;
  }
  await makeFolder(dirname(folder));
  await makeOne(folder);
}

async function makeOne(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const there = await stat(folder).catch(() => null);
    if (there === null || !there.isDirectory()) throw error;
  }
}
