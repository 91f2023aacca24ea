import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pglite } from '../../../adapters/databases/pglite.ts';
import { spawnChild } from '../../support/child.ts';
import type { Child } from '../../support/start-child.ts';
import { waitFor } from '../../support/wait-for.ts';
import { connect } from './connect.ts';
import { freshDirectory } from './fresh-directory.ts';

const CHILD = 'test/adapters/databases/pglite.child.ts';

async function openIn(directory: string): Promise<Child> {
  const child = spawnChild(CHILD, { args: [directory] });
  await child.next('ready');
  child.send({ type: 'open' });
  return child;
}

test('a second process is refused and told who holds the directory', async () => {
  const directory = await freshDirectory();
  const holder = await openIn(directory);
  await holder.next('opened');
  const error = await connect(pglite(directory)).catch((reason) => reason);
  expect(error).toMatchObject({
    code: 'DATA_DIRECTORY_IN_USE',
    details: { pid: holder.pid, host: hostname(), directory },
  });
  expect(error.message).toContain(`process ${holder.pid}`);
});

test('after kill -9 of the holder the next one opens at once, knows it, and finds every acknowledged row', async () => {
  const directory = await freshDirectory();
  let acknowledged = 0;
  for (let round = 0; round < 3; round += 1) {
    const holder = await openIn(directory);
    expect(await holder.next('opened')).toMatchObject({ tookOverDeadHolder: round > 0 });
    holder.send({ type: 'write' });
    for (let rows = 0; rows < 20; rows += 1) await holder.next('wrote');
    await holder.kill();
    acknowledged += holder.messages.filter(({ type }) => type === 'wrote').length;
  }
  const database = await connect(pglite(directory));
  expect(database.tookOverDeadHolder).toBe(true);
  const [row] = await database.orm.em.fork().execute('select count(*)::int as count from written');
  expect(row?.count).toBeGreaterThanOrEqual(acknowledged); // a row may be written and its process die before it says so
});

test('a process that dies while it makes the directory leaves one that the next can make anew', async () => {
  const directory = await freshDirectory();
  const dying = await openIn(directory);
  await waitFor(() => existsSync(join(directory, 'base')), { for: 'the first files of the cluster', everyMs: 1 });
  await dying.kill();
  const database = await connect(pglite(directory));
  expect(await database.orm.em.fork().execute('select 1 as one')).toEqual([{ one: 1 }]);
});

test('of five that open one directory at once exactly one gets it', async () => {
  const directory = await freshDirectory();
  const children = Array.from({ length: 5 }, () => spawnChild(CHILD, { args: [directory] }));
  await Promise.all(children.map((child) => child.next('ready')));
  for (const child of children) child.send({ type: 'open' });
  const answers = await Promise.all(
    children.map((child) => Promise.race([child.next('opened'), child.next('refused')])),
  );
  expect(answers.filter(({ type }) => type === 'opened')).toHaveLength(1);
  expect(answers.filter(({ code }) => code === 'DATA_DIRECTORY_IN_USE')).toHaveLength(4);
});
