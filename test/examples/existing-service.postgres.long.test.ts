import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { blocksOf } from '../docs/code-blocks.ts';
import { consumerFolder } from '../docs/consumer-folder.ts';
import { type NodeEnd, runNode } from '../docs/run-node.ts';
import { freshDatabase } from '../support/fresh-database.ts';

const FOLDER = 'examples/existing-service';
const read = (name: string) => readFileSync(`${FOLDER}/${name}`, 'utf8');
const [promised = ''] = blocksOf(read('README.md'), 'text');

/** Runs the example on an empty database, with `changes` to its files. */
async function runExample(changes: Record<string, string> = {}): Promise<NodeEnd> {
  const { url } = await freshDatabase({ state: 'empty' });
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.ts'));
  const files = Object.fromEntries(names.map((name) => [name, read(name)]));
  const { scripts } = JSON.parse(read('package.json'));
  return await runNode(consumerFolder({ ...files, ...changes }), scripts.start.split(' ').slice(1), {
    DATABASE_URL: url,
  });
}

test('examples/existing-service prints what its README says', async () => {
  expect(await runExample()).toMatchObject({ code: 0, stdout: promised });
});

test('examples/existing-service ends with 1 where a message is sent outside the transaction', async () => {
  const right = read('with-kysely.ts');
  const wrong = right
    .replace('inTransaction(trx: Transaction<Tables>)', 'inTransaction(trx: Kysely<Tables>)')
    .replace('inTransaction(trx);', 'inTransaction(db);');
  expect(wrong).not.toContain('inTransaction(trx);');
  const { code, stdout } = await runExample({ 'with-kysely.ts': wrong });
  expect({ code, isRest: promised.startsWith(stdout), saysDone: stdout === promised }).toEqual({
    code: 1,
    isRest: true,
    saysDone: false,
  });
});
