import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { blocksOf } from './code-blocks.ts';
import { consumerFolder } from './consumer-folder.ts';
import { runNode } from './run-node.ts';

const readme = readFileSync('README.md', 'utf8');
const [example = ''] = blocksOf(readme, 'ts');
const [promised = ''] = blocksOf(readme, 'text');

test('the example of the README runs as it stands, prints what it says, and writes nothing the second time', async () => {
  const folder = consumerFolder({ 'example.ts': example });
  const first = await runNode(folder, ['example.ts']);
  expect(first).toMatchObject({ code: 0, stderr: '', stdout: promised });
  const second = await runNode(folder, ['example.ts']);
  expect(second).toMatchObject({ code: 0, stderr: '', stdout: promised.split('\n').slice(-2).join('\n') });
}, 120_000);

test('the example of the README is about thirty lines', () => {
  expect(example.trimEnd().split('\n').length).toBeLessThanOrEqual(34);
});
