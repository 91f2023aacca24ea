import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readTestSources, runnersOf, withoutComments } from '../../scripts/test-titles.ts';

const ROW = /^\| (C\d\d) \| (.+?) \| (.+) \|$/gm;

/** The rows of the page: number, what it says, and the files that it names. */
const rows = [...readFileSync('docs/cases.md', 'utf8').matchAll(ROW)].map(([, number, says, files]) => ({
  number: number as string,
  says: says as string,
  files: [...(files as string).matchAll(/`([^`]+)`/g)].map(([, file]) => file as string),
}));

const sources = new Map([...readTestSources()].filter(([path]) => !path.startsWith('test/docs/')));

/** The numbers that a test source names outside its comments. */
function numbersIn(source: string): Set<string> {
  return new Set(withoutComments(source).match(/\bC\d\d\b/g) ?? []);
}

describe('docs/cases.md', () => {
  test('lists every number after which a test is named, in order and once', () => {
    const inTests = new Set([...sources.values()].flatMap((source) => [...numbersIn(source)]));
    expect(rows.map(({ number }) => number)).toEqual([...inTests].sort());
  });

  test.each(rows)('$number names files whose tests bear it, and that are run', ({ number, files }) => {
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      expect([...numbersIn(sources.get(file) ?? '')], file).toContain(number);
      expect(runnersOf(file, sources), file).not.toEqual([]);
    }
  });

  test.each(rows)('$number is said in one line', ({ says }) => {
    expect(says.length).toBeGreaterThan(20);
    expect(says.length).toBeLessThan(220);
  });
});
