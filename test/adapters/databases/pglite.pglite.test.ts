import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { expect, test } from 'vitest';
import { pglite } from '../../../adapters/databases/pglite.ts';
import type { Database } from '../../../persistence/database.contract.ts';
import { AgentToolVersion } from '../../../persistence/entities/agent-tool-version.entity.ts';
import { checkSchema, migrate } from '../../../persistence/migrate.ts';
import { freshPglite } from '../../support/pglite.ts';
import { connect } from './connect.ts';
import { freshDirectory } from './fresh-directory.ts';

async function writeMark(orm: Database['orm'], text: string): Promise<unknown> {
  const em = orm.em.fork();
  await em.begin();
  try {
    await em.execute('insert into mark values (?)', [text]);
    await em.commit();
    return undefined;
  } catch (error) {
    await em.rollback();
    return error;
  }
}

async function marks(orm: Database['orm']): Promise<unknown[]> {
  const rows = await orm.em.fork().execute('select text from mark order by text');
  return rows.map(({ text }) => text);
}

test('in memory: it migrates with roles, and a transaction as the runtime role is held by the policies', async () => {
  const database = await connect(pglite());
  await expect(checkSchema(database)).rejects.toMatchObject({ code: 'SCHEMA_MISSING' });
  expect((await migrate(database)).applied).toHaveLength(1);
  expect(await migrate(database)).toEqual({ applied: [], leftToRun: [] });
  await expect(checkSchema(database)).resolves.toBeUndefined();
  const em = database.orm.em.fork();
  await em.begin();
  await em.execute(`select set_config('role', ?, true)`, [database.runtimeRole]);
  await expect(em.execute('delete from turnlock.agent_transitions')).rejects.toMatchObject({ code: '42501' });
  await em.rollback();
  expect(await database.orm.em.fork().execute('select current_user as role')).toEqual([{ role: 'postgres' }]);
});

test('in a directory: rows are there again after it was closed and opened', async () => {
  const directory = join(await freshDirectory(), 'made', 'on', 'demand');
  const first = await connect(pglite({ directory }));
  await first.orm.em.fork().execute('create table mark (text text)');
  expect(await writeMark(first.orm, 'kept')).toBeUndefined();
  await first.close();
  await first.close();
  const second = await connect(pglite(directory));
  expect(second.tookOverDeadHolder).toBe(false);
  expect(await marks(second.orm)).toEqual(['kept']);
});

test('one process opens a directory once at a time', async () => {
  const directory = await freshDirectory();
  const first = await connect(pglite(directory));
  await expect(connect(pglite(directory))).rejects.toMatchObject({
    code: 'DATA_DIRECTORY_IN_USE',
    details: { pid: process.pid },
  });
  await first.close();
  await expect(connect(pglite(directory))).resolves.toBeDefined();
});

test('a directory with other files, or that is none, is refused and left as it is', async () => {
  const directory = await freshDirectory();
  await writeFile(join(directory, 'letter.txt'), 'mine');
  await expect(connect(pglite(directory))).rejects.toMatchObject({ code: 'DATA_DIRECTORY_INVALID' });
  expect(await readdir(directory)).toEqual(['letter.txt']);
  await expect(connect(pglite(join(directory, 'letter.txt')))).rejects.toMatchObject({
    code: 'DATA_DIRECTORY_INVALID',
  });
});

test('a directory whose files are damaged is refused, named with its version, and free again', async () => {
  const directory = await freshDirectory();
  await (await connect(pglite(directory))).close();
  await rm(join(directory, 'global'), { recursive: true });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(connect(pglite(directory))).rejects.toMatchObject({
      code: 'DATA_DIRECTORY_INVALID',
      message: expect.stringContaining('18'),
    });
  }
});

test.each([
  ['an instance and a directory', { instance: {} as PGlite, directory: 'x' }],
  ['a store of a browser', 'idb://x'],
  ['no name at all', ''],
])('%s is OPTIONS_INVALID at once', (_what, options) => {
  expect(() => pglite(options)).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
});

test('an instance of the program is not closed, and its own transactions keep out of ours', async () => {
  const instance = await freshPglite({ state: 'empty' });
  await instance.exec('create table mark (text text)');
  const { orm, close } = await connect(pglite({ instance }));
  await Promise.all([
    instance.transaction(async (tx) => {
      await tx.query(`insert into mark values ('theirs')`);
      await new Promise((resolve) => setImmediate(resolve));
      await tx.rollback();
    }),
    writeMark(orm, 'ours'),
  ]);
  expect(await marks(orm)).toEqual(['ours']);
  await close();
  expect((await instance.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});

test('a time is a parameter of a query builder', async () => {
  const { orm } = await connect(pglite({ instance: await freshPglite() }));
  const at = new Date('2026-10-25T00:30:00.123Z');
  const key = { agentName: 'a', toolName: 'refund', toolVersion: 1 };
  const write = orm.em.fork();
  await write.begin();
  write.persist(write.create(AgentToolVersion, { ...key, schemaDigest: 'a'.repeat(64), createdAt: at }));
  await write.commit();
  const kysely = orm.em.fork().getKysely() as unknown as import('kysely').Kysely<{
    'turnlock.agent_tool_versions': { tool_name: string; created_at: unknown };
  }>;
  const found = await kysely
    .selectFrom('turnlock.agent_tool_versions')
    .select('tool_name')
    .where('created_at', '=', at)
    .where('tool_name', '=', 'refund')
    .execute();
  expect(found).toEqual([{ tool_name: 'refund' }]);
});

test('extensions are the choice of the program, and none is needed', async () => {
  const { vector } = await import('@electric-sql/pglite-pgvector');
  const { orm } = await connect(pglite({ extensions: { vector } }));
  await orm.em.fork().execute('create extension vector');
  expect(await orm.em.fork().execute(`select '[1,2]'::vector <-> '[1,3]'::vector as distance`)).toEqual([
    { distance: 1 },
  ]);
});
