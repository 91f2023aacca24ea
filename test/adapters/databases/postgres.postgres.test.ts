import { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { isTurnlockError } from '../../../errors.ts';
import type { DatabaseWarning } from '../../../persistence/database.contract.ts';
import { AgentSession } from '../../../persistence/entities/agent-session.entity.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { waitFor } from '../../support/wait-for.ts';
import { withClient } from '../../support/with-client.ts';
import { connect } from './connect.ts';
import { freshRole } from './fresh-role.ts';

const SECRET = 'correct-horse';

function changed(url: string, change: Partial<URL>): string {
  return Object.assign(new URL(url), change).href;
}

const answersOne = [{ one: 1 }];

test('a URL, options, a pool and a MikroORM of the program all work; what was handed in stays open', async () => {
  const { url } = await freshDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    debug: false,
  });
  atTestEnd(() => pool.end());
  atTestEnd(() => orm.close());
  for (const source of [url, { connectionString: url }, pool, orm]) {
    const database = await connect(postgres(source));
    expect(await database.orm.em.fork().execute('select 1 as one')).toEqual(answersOne);
    await database.close();
    await database.close();
  }
  expect((await pool.query('select 1 as one')).rows).toEqual(answersOne);
  expect(await orm.em.fork().execute('select 1 as one')).toEqual(answersOne);
  expect(pool.listenerCount('error')).toBe(0);
});

test('our own pool is named in pg_stat_activity, unless its options name it', async () => {
  const { url } = await freshDatabase();
  for (const [application, options] of [
    ['turnlock', {}],
    ['billing', { application_name: 'billing' }],
  ] as const) {
    const database = await connect(postgres({ connectionString: url, ...options }));
    expect(await database.orm.em.fork().execute(`select current_setting('application_name') as name`)).toEqual([
      { name: application },
    ]);
  }
});

test.each([
  ['another port', { port: '1' }, 'DATABASE_UNREACHABLE', 'ECONNREFUSED'],
  ['another host', { hostname: 'nowhere.invalid' }, 'DATABASE_UNREACHABLE', 'nowhere.invalid'],
  ['a wrong password', { password: SECRET }, 'DATABASE_LOGIN_REFUSED', '28P01'],
  ['a role that does not exist', { username: 'nobody' }, 'DATABASE_LOGIN_REFUSED', '28P01'],
  ['no password', { password: '' }, 'DATABASE_LOGIN_REFUSED', 'SASL'],
  ['a database that does not exist', { pathname: '/missing' }, 'DATABASE_LOGIN_REFUSED', '3D000'],
  ['TLS of a server without', { search: '?ssl=true' }, 'DATABASE_LOGIN_REFUSED', 'SSL'],
])('%s is a typed error that tells place and reason, and no secret', async (_what, change, code, found) => {
  const url = changed(inject('postgresUrl'), change);
  const error = await connect(postgres(url)).catch((reason) => reason);
  expect(error).toMatchObject({ code, message: expect.stringContaining(found) });
  expect(JSON.stringify([error, error.message, error.stack, String(error.cause)])).not.toContain(SECRET);
  expect(error.message).not.toContain('postgres://');
});

test('a login that fails on our side leaves no socket behind', async () => {
  const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  const before = sockets();
  await expect(connect(postgres(changed(inject('postgresUrl'), { password: '' })))).rejects.toThrow('SASL');
  await waitFor(() => sockets() <= before, { for: 'the socket to close', timeoutMs: 2_000 });
  expect(sockets()).toBeLessThanOrEqual(before);
});

test.each([
  ['a URL that cannot be read', `postgres://user:${SECRET}@host:port:port/x`],
  ['a URL of something else', `mysql://user:${SECRET}@host/x`],
  ['options with such a URL', { connectionString: `postgres://user:${SECRET}@[/x` }],
])('%s is OPTIONS_INVALID, and stays out of the message', async (_what, source) => {
  const error = await connect(postgres(source)).catch((reason) => reason);
  expect(error).toMatchObject({ code: 'OPTIONS_INVALID' });
  expect(JSON.stringify([error, error.stack])).not.toContain(SECRET);
});

test('a role that may not connect is refused', async () => {
  const { url, name } = await freshDatabase();
  await withClient(url, (client) => client.query(`REVOKE CONNECT ON DATABASE "${name}" FROM PUBLIC`));
  const role = await freshRole(url);
  await expect(connect(postgres(role.url))).rejects.toMatchObject({
    code: 'DATABASE_LOGIN_REFUSED',
    message: expect.stringContaining('42501'),
  });
});

test('a pool whose connections are all out gives DATABASE_UNREACHABLE in time, whoever made it, and loses none', async () => {
  const { url } = await freshDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 1 }); // waits for ever by itself
  atTestEnd(() => pool.end());
  for (const source of [pool, { connectionString: url, max: 1 }]) {
    const { orm } = await connect(postgres(source), { limits: { connectTimeoutMs: 200 } });
    const holder = orm.em.fork();
    await holder.begin();
    await holder.execute('select 1');
    await expect(orm.em.fork().execute('select 1')).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: expect.stringMatching(/time/),
    });
    const found = orm.em.fork().find(AgentSession, {}); // by another way through MikroORM, which wraps what it does not know
    await expect(found).rejects.toSatisfy((error) => isTurnlockError(error, 'DATABASE_UNREACHABLE'));
    await expect(orm.em.fork().begin()).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' });
    await holder.commit();
    expect(await orm.em.fork().execute('select 1 as one')).toEqual(answersOne);
  }
});

test('what weakens a guarantee is told once, and the rights of a granted role are no reason', async () => {
  const { url } = await freshDatabase();
  const role = await freshRole(url);
  await withClient(url, (client) => client.query(`ALTER ROLE ${role.name} SET synchronous_commit = off`));
  const told: DatabaseWarning[] = [];
  const onWarning = (warning: DatabaseWarning) => void told.push(warning);
  const asOwner = await connect(postgres(url), { onWarning });
  await asOwner.reviewSetup();
  expect(told.map(({ code }) => code).sort()).toEqual(['FSYNC_OFF', 'RLS_BYPASSED']);
  told.length = 0;
  await connect(postgres(role.url), { onWarning });
  expect(told.map(({ code }) => code).sort()).toEqual(['FSYNC_OFF', 'SYNCHRONOUS_COMMIT_OFF']);
});

test('C59 a pool of one connection is enough, for many transactions at once', async () => {
  const { url } = await freshDatabase();
  const { orm } = await connect(postgres({ connectionString: url, max: 1 }));
  await orm.em.fork().execute('create table counter (n int)');
  await orm.em.fork().execute('insert into counter values (0)');
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const em = orm.em.fork();
      await em.begin();
      await em.execute('select 1');
      await em.execute('update counter set n = n + 1');
      await em.commit();
    }),
  );
  expect(await orm.em.fork().execute('select n from counter')).toEqual([{ n: 20 }]);
});

test('isolation level and access are those of ours, whatever role and pool default to', async () => {
  const { url } = await freshDatabase();
  const { orm } = await connect(
    postgres({
      connectionString: url,
      options: '-c default_transaction_isolation=serializable -c default_transaction_read_only=on',
    }),
  );
  const em = orm.em.fork();
  await em.begin();
  expect(
    await em.execute(
      `select current_setting('transaction_isolation') as level, current_setting('transaction_read_only') as read_only`,
    ),
  ).toEqual([{ level: 'read committed', read_only: 'off' }]);
  await em.rollback();
});

test("a transaction of the program's own MikroORM around ours is another one", async () => {
  const { url } = await freshDatabase();
  const theirs = await MikroORM.init({
    clientUrl: url,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    debug: false,
  });
  atTestEnd(() => theirs.close());
  const ours = await connect(postgres(theirs));
  await theirs.em.fork().transactional(async (em) => {
    const [mine] = await em.execute('select pg_backend_pid() as pid');
    const [other] = await ours.orm.em.fork().transactional((inner) => inner.execute('select pg_backend_pid() as pid'));
    expect(other?.pid).not.toBe(mine?.pid);
  });
});

test.each([
  ['an option that the server does not know', '-c no_such_setting=1', '42704'],
  ['an option with a wrong value', '-c statement_timeout=soon', '22023'],
])('%s in a URL is told as such', async (_what, options, sqlState) => {
  const url = new URL(inject('postgresUrl'));
  url.searchParams.set('options', options);
  await expect(connect(postgres(url.href))).rejects.toMatchObject({
    code: 'DATABASE_LOGIN_REFUSED',
    message: expect.stringContaining(sqlState),
    hint: expect.stringContaining('options'),
  });
});

test.each(['12#34@host', '12/34@host', '12?34@host', 'horse#34@host', 'horse/3@4@host'])(
  'a password that is not percent-encoded (%s) is refused with the way to write it, and not shown',
  async (end) => {
    const error = await postgres(`postgres://ana:${end}/app?sslmode=disable`)
      .connect({ environment: {} as never, limits: {} as never })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'OPTIONS_INVALID', hint: expect.stringContaining('%23') });
    expect(`${(error as Error).message} ${JSON.stringify(error)}`).not.toMatch(/ana|12|34|horse/);
  },
);

test('a pool that its owner ended is no outage: the error is final, and says so', async () => {
  const { url } = await freshDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  const { orm } = await connect(postgres(pool));
  await pool.end();
  await expect(orm.em.fork().execute('select 1 as one')).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    retryable: false,
    message: expect.stringContaining('ended by its owner'),
  });
});
