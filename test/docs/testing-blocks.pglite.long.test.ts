import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { blocksOf, codeBlocks } from './code-blocks.ts';
import { consumerFolder } from './consumer-folder.ts';
import { runNode } from './run-node.ts';

const page = readFileSync('docs/testing-blocks.md', 'utf8');
const programs = codeBlocks(page).filter(({ file, text }) => file !== null || text.startsWith('import '));

const files = Object.fromEntries(programs.flatMap(({ file, text }) => (file === null ? [] : [[file, text]])));

async function run(...args: string[]): Promise<string> {
  const [short = ''] = programs.flatMap(({ file, text }) => (file === null ? [text] : []));
  const { code, stdout, stderr } = await runNode(consumerFolder({ ...files, 'short.ts': short }), args);
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  return stdout;
}

test('the crash of the session harness prints what the page says', async () => {
  expect(await run('crash.ts')).toBe(blocksOf(page, 'text')[0]);
}, 120_000);

test('no fault of the table has a customer charged twice', async () => {
  const rows = files['faults.test.ts']?.match(/ at /g) ?? [];
  expect(rows).toHaveLength(6);
  expect(await run('--test', '--test-reporter=tap', 'faults.test.ts')).toContain(`# pass ${rows.length}\n# fail 0`);
}, 120_000);

test('faults are read and written as the page says', async () => {
  const [, shown] = /\/\/ (\{ point.*\})/.exec(page)!;
  const [, written] = /readFaults\("(.*)"\)/.exec(page)!;
  expect(await run('short.ts')).toBe(`${shown}\n${written}\n`);
}, 120_000);

test('the check with a ledger breaks the invariant that the page says', async () => {
  const [, invariant] = /It prints `(.*?)`/.exec(page)!;
  expect(await run('ledger.ts')).toBe(`${invariant}\n`);
}, 120_000);

test('every program of the page is run', () => {
  expect(Object.keys(files)).toEqual(['charging.ts', 'crash.ts', 'faults.test.ts', 'ledger.ts']);
  expect(programs).toHaveLength(5);
});
