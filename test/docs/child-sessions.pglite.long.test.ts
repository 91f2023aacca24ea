import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { codeBlocks } from './code-blocks.ts';
import { consumerFolder } from './consumer-folder.ts';
import { runNode } from './run-node.ts';

test('the program about child sessions prints what the page says', async () => {
  const blocks = codeBlocks(readFileSync('docs/agents-and-tools.md', 'utf8'));
  const program = blocks.find(({ file }) => file === 'company.ts')!.text;
  const [, promised] = /console\.log\(reply\); \/\/ (.*)/.exec(program)!;
  const end = await runNode(consumerFolder({ 'company.ts': program }), ['company.ts']);
  expect(end).toMatchObject({ code: 0, stdout: `${promised}\n` });
}, 120_000);
