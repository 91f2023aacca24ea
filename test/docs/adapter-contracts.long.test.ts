import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { codeBlocks } from './code-blocks.ts';
import { consumerFolder } from './consumer-folder.ts';
import { runNode } from './run-node.ts';

const blocks = codeBlocks(readFileSync('docs/adapter-contracts.md', 'utf8'));
const files = Object.fromEntries(blocks.flatMap(({ file, text }) => (file === null ? [] : [[file, text]])));
const programs = Object.keys(files).filter((name) => name.endsWith('.test.ts'));

test('there are programs on the page “Adapters of your own”', () => {
  expect(programs).toEqual(['small-model.test.ts', 'refund.test.ts', 'my-database.test.ts']);
});

test.each(programs)('%s runs under node:test as it stands there, and its adapter keeps every promise', async (name) => {
  const folder = consumerFolder(files);
  const { stdout, stderr, code } = await runNode(folder, ['--test-reporter=tap', name]);
  expect(code, stdout + stderr).toBe(0);
  expect(stdout).toMatch(/^# fail 0$/m);
  expect(stdout).toMatch(/^# pass [1-9]\d*$/m);
});
