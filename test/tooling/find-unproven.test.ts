import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findUnproven, type TestReport } from '../../scripts/find-unproven.ts';
import { readProofs } from '../../scripts/read-proofs.ts';
import { atTestEnd } from '../support/at-test-end.ts';

const page = `
| promise | under | proven by |
|---|---|---|
| One, "quoted" | | \`test/a.test.ts\` “it holds”, “for %s and $name.first”, \`test/b-suite.ts\` “C01 \${effect}: (all) of it” |
| Other | \`test/none.test.ts\` “is none” | in words |
`;

const sources = new Map([
  ['test/a.test.ts', ''],
  ['test/b-suite.ts', ''],
  ['test/b.pglite.test.ts', "import { b } from './b-suite.ts';"],
  ['test/b.postgres.test.ts', "import { b } from './b-suite.ts';"],
]);

/** A report with one file: titles, a group in front of them divided by `>`, by status. */
function report(file: string, titles: Record<string, string>): TestReport {
  const assertionResults = Object.entries(titles).map(([path, status]) => {
    const ancestorTitles = path.split(' > ');
    return { ancestorTitles, title: ancestorTitles.pop() as string, status };
  });
  return { testResults: [{ name: join('/folder', file), assertionResults }] };
}

const whole = [
  report('test/a.test.ts', { 'it holds': 'passed', 'for a b and c': 'passed' }),
  report('test/b.pglite.test.ts', { 'C01 readOnly: (all) of it > one': 'passed' }),
  report('test/b.postgres.test.ts', { 'C01 idempotent: (all) of it': 'passed' }),
];

const find = (reports: TestReport[], proofs = readProofs(page)) =>
  findUnproven(proofs, reports, { sources, folder: '/folder' });

test('the proofs of a page are those of the last column: each title is in the file that was named last', () => {
  expect(readProofs(page)).toEqual([
    { path: 'test/a.test.ts', title: 'it holds' },
    { path: 'test/a.test.ts', title: 'for %s and $name.first' },
    { path: 'test/b-suite.ts', title: `C01 \${effect}: (all) of it` },
  ]);
});

test('proofs that passed are found, whatever their cases are called, also as the title of a group', () => {
  expect(find(whole)).toEqual([]);
});

test('what did not run, was skipped or failed is told', () => {
  const told = ['test/a.test.ts “it holds” did not run and pass'];
  for (const status of ['failed', 'skipped', 'pending', 'todo']) {
    const other = report('test/a.test.ts', { 'it holds': status, 'for x and y': 'passed' });
    expect(find([other, ...whole.slice(1)])).toEqual(told);
  }
  expect(find([report('test/a.test.ts', { 'for x and y': 'passed' }), ...whole.slice(1)])).toEqual(told);
  expect(find(whole.slice(1))).toHaveLength(2);
});

test('a title is the whole title of a test in that file', () => {
  const elsewhere = report('test/c.test.ts', { 'it holds': 'passed' });
  const longer = report('test/a.test.ts', { 'it holds not': 'passed', 'for x and y': 'passed' });
  expect(find([elsewhere, longer, ...whole.slice(1)])).toHaveLength(1);
});

test('a suite has passed once it did on each database', () => {
  const title = `test/b-suite.ts “C01 \${effect}: (all) of it” did not run and pass`;
  expect(find(whole.slice(0, 2))).toEqual([`${title} (in test/b.postgres.test.ts)`]);
  const nowhere = { path: 'test/nobody-suite.ts', title: 'it holds' };
  expect(find(whole, [nowhere])).toEqual([
    'test/nobody-suite.ts “it holds” did not run and pass (in no file that runs it)',
  ]);
});

test('the check of a run in which nothing passed names every proof of the page, and fails', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'turnlock-proofs-'));
  atTestEnd(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'vitest-1.json'), JSON.stringify(report('test/a.test.ts', {})));
  const failed = await promisify(execFile)(process.execPath, ['scripts/check-proofs.ts', folder]).catch(
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  expect(failed).toMatchObject({ code: 1, stdout: expect.stringMatching(/^proofs: \d{3} found/) });
  expect(failed.stderr).toContain('test/runtime/kill/kill-suite.ts “C02 C04 killed %s');
});
