import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { blocksOf, codeBlocks } from './code-blocks.ts';
import { consumerFolder } from './consumer-folder.ts';
import { runNode } from './run-node.ts';

const page = readFileSync('docs/testing-blocks.md', 'utf8');
const programs = codeBlocks(page).filter(({ file, text }) => file !== null || text.startsWith('import '));

function programOf(part: string): string {
  return programs.find(({ file, text }) => file === part || text.includes(part))?.text ?? '';
}

async function print(text: string): Promise<string> {
  const { code, stdout, stderr } = await runNode(consumerFolder({ 'program.ts': text }), ['program.ts']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

test('the crash of the session harness prints what the page says', async () => {
  expect(await print(programOf('crash.ts'))).toBe(blocksOf(page, 'text')[0]);
}, 120_000);

test('faults are read and written as the page says', async () => {
  const text = programOf('readFaults(');
  const [, shown] = /\/\/ (\{.*\})/.exec(text)!;
  const [, written] = /readFaults\("(.*)"\)/.exec(text)!;
  expect(await print(text)).toBe(`${shown}\n${written}\n`);
}, 120_000);

test('the check with a ledger breaks the invariant that the page says', async () => {
  const [, invariant] = /It prints `(.*?)`/.exec(page)!;
  expect(await print(programOf('ledger.ts'))).toBe(`${invariant}\n`);
}, 120_000);

test('every program of the page is run', () => {
  expect(programs).toHaveLength(3);
});
