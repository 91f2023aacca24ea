import { globSync, readFileSync } from 'node:fs';

/** The documents that stand at the top of the repository, and those of `docs/`, by path; as they stand on the disk. */
export function readDocuments(): ReadonlyMap<string, string> {
  const paths = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md']).sort();
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}
