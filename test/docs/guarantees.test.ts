import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { PROVEN_PAGES, readProofs } from '../../scripts/read-proofs.ts';
import { readTestSources, runnersOf, titlesOf } from '../../scripts/test-titles.ts';

const sources = readTestSources();

/** The least number of proofs of each page. */
const LEAST: Record<string, number> = { 'docs/guarantees.md': 200, 'docs/security.md': 30 };

describe.each(PROVEN_PAGES)('%s', (file) => {
  const page = readFileSync(file, 'utf8');
  const proofs = readProofs(page);

  test('names proofs', () => {
    expect(proofs.length).toBeGreaterThan(LEAST[file]!);
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
      expect(runners).toMatch(/postgres|server|\.vector\./);
    },
  );

  test('every promise has a proof: each row of a table that says how it is proven', () => {
    const tables = page.split(/\n(?!\|)/).filter((lines) => /\| proven by \|\n/.test(lines));
    const rows = tables.flatMap((table) =>
      table
        .split('\n')
        .filter((line) => line.startsWith('| '))
        .slice(1),
    );
    expect(rows.length).toBeGreaterThan(LEAST[file]! / 2);
    expect(rows.filter((row) => readProofs(row).length === 0)).toEqual([]);
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
