import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { expect, test } from 'vitest';
import { pglite } from '../../../adapters/databases/pglite.ts';
import type { FaultPoint } from '../../../environment.ts';
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

test('many transactions at once take turns and none is lost', async () => {
  const { orm } = await connect(pglite({ instance: await freshPglite({ state: 'empty' }) }));
  await orm.em.fork().execute('create table counter (n int)');
  await orm.em.fork().execute('insert into counter values (0)');
  const all = Array.from({ length: 50 }, async (_, index) => {
    const em = orm.em.fork();
    await em.begin();
    const [row] = await em.execute('select n from counter');
    await new Promise((resolve) => setImmediate(resolve));
    await em.execute('update counter set n = ?', [row!.n + 1]);
    await (index % 5 === 0 ? em.rollback() : em.commit());
  });
  await Promise.all(all);
  expect(await orm.em.fork().execute('select n from counter')).toEqual([{ n: 40 }]);
});

test('a disconnect at any point of a transaction leaves the one connection clean for the next', async () => {
  const acts = new Map<FaultPoint, () => void>();
  const instance = await freshPglite({ state: 'empty' });
  const { orm } = await connect(pglite({ instance }), { environment: { faultPoint: (point) => acts.get(point)?.() } });
  await orm.em.fork().execute('create table mark (text text)');
  for (const point of ['beforeBegin', 'afterStatement', 'beforeCommit', 'commitSent', 'afterCommit'] as const) {
    acts.set(point, () => {
      throw new Error('the connection is gone');
    });
    expect(await writeMark(orm, point).catch((error) => error)).toBeInstanceOf(Error);
    acts.clear();
    expect(await writeMark(orm, `${point}, next`)).toBeUndefined();
  }
  expect((await marks(orm)).filter((text) => !String(text).endsWith('next'))).toEqual(['afterCommit', 'commitSent']);
});

test('COMMIT of a failed transaction is a definite abort with the error of the statement', async () => {
  const { orm } = await connect(pglite({ instance: await freshPglite({ state: 'empty' }) }));
  const em = orm.em.fork();
  await em.begin();
  await em.execute('select 1 / 0').catch(() => undefined);
  await expect(em.commit()).rejects.toMatchObject({ code: '22012' });
  await em.rollback();
  expect(await orm.em.fork().execute('select 1 as one')).toEqual([{ one: 1 }]);
});

test('values are read as from a server: types, times to the millisecond, parameters of a query builder', async () => {
  const { orm } = await connect(pglite({ instance: await freshPglite() }));
  const [row] = await orm.em
    .fork()
    .execute(
      `select true as bool, 1::bigint as int8, 2 as int4, 1.5::float8 as float, 'x' as text, '{"a": [1]}'::jsonb as json, null as nothing, '\\x00ff'::bytea as bytes`,
    );
  expect(row).toEqual({
    bool: true,
    int8: '1',
    int4: 2,
    float: 1.5,
    text: 'x',
    json: { a: [1] },
    nothing: null,
    bytes: Buffer.from([0, 255]),
  });
  const at = new Date('2026-10-25T00:30:00.123Z');
  const write = orm.em.fork();
  await write.begin();
  write.persist(
    write.create(AgentToolVersion, {
      agentName: 'a',
      toolName: 'refund',
      toolVersion: 1,
      schemaDigest: 'a'.repeat(64),
      createdAt: at,
    }),
  );
  await write.commit();
  expect((await orm.em.fork().findOneOrFail(AgentToolVersion, { toolName: 'refund' })).createdAt).toEqual(at);
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
