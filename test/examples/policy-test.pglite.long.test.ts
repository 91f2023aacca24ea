import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { blocksOf, codeBlocks } from '../docs/code-blocks.ts';
import { consumerFolder } from '../docs/consumer-folder.ts';
import { runNode } from '../docs/run-node.ts';

const FOLDER = 'examples/policy-test';
const PAGE = readFileSync('docs/testing-your-tools.md', 'utf8');
const names = readdirSync(FOLDER).filter((name) => name.endsWith('.ts'));
const files = Object.fromEntries(names.map((name) => [name, readFileSync(`${FOLDER}/${name}`, 'utf8')]));

test('the page shows every file of examples/policy-test as it is', () => {
  const shown = codeBlocks(PAGE).flatMap(({ file, text }) => (file === null ? [] : [[file, text]]));
  expect(Object.fromEntries(shown)).toEqual(files);
});

test('examples/policy-test breaks the wrong tool as the page says, and finds nothing in the other one', async () => {
  const { scripts } = JSON.parse(readFileSync(`${FOLDER}/package.json`, 'utf8'));
  const { code, stdout, stderr } = await runNode(consumerFolder(files), scripts.start.split(' ').slice(1));
  expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: '', stdout: blocksOf(PAGE, 'text')[0] });
}, 180_000);
