import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { blocksOf } from '../docs/code-blocks.ts';
import { consumerFolder } from '../docs/consumer-folder.ts';
import { type NodeEnd, runNode } from '../docs/run-node.ts';

const FOLDER = 'examples/refunds';
const read = (name: string) => readFileSync(`${FOLDER}/${name}`, 'utf8');

/** Runs the example, with `changes` to its files. */
async function runExample(changes: Record<string, string> = {}): Promise<NodeEnd> {
  const files = Object.fromEntries(globSync('**/*.ts', { cwd: FOLDER }).map((name) => [name, read(name)]));
  const { scripts } = JSON.parse(read('package.json'));
  return await runNode(consumerFolder({ ...files, ...changes }), scripts.start.split(' ').slice(1));
}

test('examples/refunds prints what its README says', async () => {
  const [promised] = blocksOf(read('README.md'), 'text');
  expect(await runExample()).toMatchObject({ code: 0, stderr: '', stdout: promised });
}, 600_000);

test('examples/refunds ends with 1 where a tool is declared repeatable and its receiver knows no keys', async () => {
  const right = read('tools.ts');
  const wrong = right.replace("effect: 'nonRepeatable'", "effect: 'idempotent'");
  expect(wrong).not.toBe(right);
  const short = read('main.ts').replace('SCENES.entries()', 'SCENES.slice(-1).entries()');
  expect(short).not.toBe(read('main.ts'));
  const { code, stdout } = await runExample({ 'tools.ts': wrong, 'main.ts': short });
  const [, refunds] = /booked (\d+) refunds?\n$/.exec(stdout) ?? [];
  expect({ code, isBookedAgain: Number(refunds) > 1 }).toEqual({ code: 1, isBookedAgain: true });
});
