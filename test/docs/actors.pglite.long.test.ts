import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { blocksOf, codeBlocks } from './code-blocks.ts';
import { consumerFolder } from './consumer-folder.ts';
import { runNode } from './run-node.ts';

test('a machine that invoked two sessions is killed and started again: it finishes as the page says, and acts once for each', async () => {
  const page = readFileSync('docs/actors.md', 'utf8');
  const program = codeBlocks(page).find(({ file }) => file === 'trip.ts')!.text;
  const [last] = blocksOf(page, 'text');
  const folder = consumerFolder({ 'trip.ts': program });
  expect(await runNode(folder, ['trip.ts'], { DIE: 'hotel' })).toMatchObject({ signal: 'SIGKILL' });
  const { code, stdout, stderr } = await runNode(folder, ['trip.ts']);
  expect(code, stderr).toBe(0);
  const lines = stdout.trim().split('\n');
  expect(lines.at(-1)).toBe(last!.trim());
  expect(lines.filter((line) => line === 'hotel: booked at attempt 2')).toHaveLength(1);
}, 180_000);
