import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** The repository's text files by path: tracked ones and new ones that are not ignored. */
export type SourceFiles = ReadonlyMap<string, string>;

/** Reads them from the current folder, which must be the repository's root. */
export function readSourceFiles(): SourceFiles {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const paths = list.split('\0').filter((path) => path !== '' && existsSync(path));
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}
