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

/** The titles of tests and groups as the source has them: `$name`, `%s` and `${name}` stand for what a case puts there. */
export function titlesOf(source: string): string[] {
  return [...withoutComments(source).matchAll(TITLE)].map(([, single, double, template]) =>
    (single ?? double ?? template ?? '').replace(/\\(.)/g, '$1'),
  );
}

/** The test files that run `path`: itself, or those that import it, directly or through a suite. */
export function runnersOf(path: string, sources: ReadonlyMap<string, string>): string[] {
  if (/\.test\.ts$|\.test-d\.ts$/.test(path)) return [path];
  const importers = [...sources].filter(([other, source]) => importsOf(other, source).includes(path));
  return importers.flatMap(([other]) => runnersOf(other, sources));
}

function importsOf(path: string, source: string): string[] {
  const found = [...source.matchAll(/from '(\.{1,2}\/[^']+\.ts)'/g)];
  return found.map(([, target]) => join(dirname(path), target as string));
}

/** `source` without its comments. A `//` inside a URL or a pattern is not taken for one. */
export function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
}
