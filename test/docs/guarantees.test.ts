import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readTestSources, runnersOf, titlesOf } from './test-titles.ts';

/** A proof as the page has it: `test/…`: a path in backticks, then the title in typographic quotes. */
const PROOF = /`(test\/[^`]+\.ts)` “([^”]+)”/g;

const sources = readTestSources();

/** The pages that say what holds, each with its least number of proofs. */
const PAGES = [
  ['docs/guarantees.md', 40],
  ['docs/security.md', 30],
] as const;

describe.each(PAGES)('%s', (file, least) => {
  const page = readFileSync(file, 'utf8');
  const proofs = [...page.matchAll(PROOF)].map(([, path, title]) => ({ path: path as string, title: title as string }));

  test('names proofs', () => {
    expect(proofs.length).toBeGreaterThan(least);
  });

  test.each(proofs)('$path “$title” exists, and a test file runs it', ({ path, title }) => {
    const source = sources.get(path);
    expect(source, `${path} is no file`).toBeDefined();
    expect(titlesOf(source as string)).toContain(title);
    expect(runnersOf(path, sources)).not.toEqual([]);
  });

  test.each([...new Set(proofs.map(({ path }) => path).filter((path) => path.endsWith('-suite.ts')))])(
    '%s is run on PGlite and on a server',
    (path) => {
      const runners = runnersOf(path, sources).join(' ');
      expect(runners).toMatch(/pglite|embedded/);
      expect(runners).toMatch(/postgres|server/);
    },
  );

  test('every promise has a proof: each row of a table that says how it is proven', () => {
    const rows = page.split('\n').filter((line) => /^\| [^-|]/.test(line));
    const withoutProof = rows.filter((row) => !/\| proven by \|$/.test(row) && row.search(PROOF) < 0);
    expect(withoutProof).toEqual([]);
  });
});

test('titles are found as the source has them, whatever their quotes and their cases', () => {
  const source = `
    test('one', async () => {});
    test.each([['a', () => 1]])("it's %s", (x) => {});
    test(\`C02 \${effect}: two\`, async () => {});
    // test('in a comment', () => {});
    describe('group', () => {});
    call('no title', 1);
  `;
  expect(titlesOf(source)).toEqual(['one', "it's %s", `C02 \${effect}: two`, 'group']);
});
