import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { blocksOf } from '../docs/code-blocks.ts';
import { consumerFolder } from '../docs/consumer-folder.ts';
import { runNode } from '../docs/run-node.ts';

const FOLDER = 'examples/first-agent';
const read = (name: string) => readFileSync(`${FOLDER}/${name}`, 'utf8');

test('examples/first-agent prints what its README says, each time it runs', async () => {
  const [promised = ''] = blocksOf(read('README.md'), 'text');
  const { scripts } = JSON.parse(read('package.json'));
  const folder = consumerFolder({ 'agent.ts': read('agent.ts') });
  const args = scripts.start.split(' ').slice(1);
  const first = await runNode(folder, args);
  expect(first).toMatchObject({ code: 0, stderr: '', stdout: promised });
  expect(await runNode(folder, args)).toEqual(first);
}, 120_000);
