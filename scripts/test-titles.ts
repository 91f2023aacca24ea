import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Every TypeScript file below `test/`, by path, as it stands on the disk. */
export function readTestSources(): ReadonlyMap<string, string> {
  const paths = globSync('test/**/*.ts').sort();
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}

/** The first argument of `test(…)`, `test.each(…)(…)` and `describe(…)`: text in quotes, then a comma, then a function. */
const TITLE =
  /\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`),\s*(?:async\s*)?(?:\(|function\b|\w+\s*=>)/g;

/** Of a source that was looked at before: pages name the same files hundreds of times. */
const titlesBySource = new Map<string, string[]>();

/** The titles of tests and groups as the source has them: `$name`, `%s` and `${name}` stand for what a case puts there. */
export function titlesOf(source: string): string[] {
  const known = titlesBySource.get(source);
  if (known !== undefined) return known;
  const titles = [...withoutComments(source).matchAll(TITLE)].map(([, single, double, template]) =>
    (single ?? double ?? template ?? '').replace(/\\(.)/g, '$1'),
  );
  titlesBySource.set(source, titles);
  return titles;
}

/** The test files that run `path`: itself, or those that import it, directly or through a suite. */
export function runnersOf(path: string, sources: ReadonlyMap<string, string>): string[] {
  if (/\.test\.ts$|\.test-d\.ts$/.test(path)) return [path];
  return (importersOf(sources).get(path) ?? []).flatMap((other) => runnersOf(other, sources));
}

const importersBySources = new WeakMap<ReadonlyMap<string, string>, ReadonlyMap<string, string[]>>();

/** Which of `sources` import a file, by the file's path. */
function importersOf(sources: ReadonlyMap<string, string>): ReadonlyMap<string, string[]> {
  const known = importersBySources.get(sources);
  if (known !== undefined) return known;
  const importers = new Map<string, string[]>();
  for (const [path, source] of sources) {
    for (const target of importsOf(path, source)) importers.set(target, [...(importers.get(target) ?? []), path]);
  }
  importersBySources.set(sources, importers);
  return importers;
}

function importsOf(path: string, source: string): Set<string> {
  const found = [...source.matchAll(/from '(\.{1,2}\/[^']+\.ts)'/g)];
  return new Set(found.map(([, target]) => join(dirname(path), target as string)));
}

/** `source` without its comments. A `//` inside a URL or a pattern is not taken for one. */
export function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
}
