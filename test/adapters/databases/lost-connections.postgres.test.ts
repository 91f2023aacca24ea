import pg from 'pg';
import { expect, test } from 'vitest';
import { postgres } from '../../../adapters/databases/postgres.ts';
import type { FaultPoint } from '../../../environment.ts';
import { isTurnlockError } from '../../../errors.ts';
import type { Database } from '../../../persistence/database.contract.ts';
import { toTurnlockError } from '../../../persistence/sqlstate.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { waitFor } from '../../support/wait-for.ts';
import { withClient } from '../../support/with-client.ts';
import { connect } from './connect.ts';

type Orm = Database['orm'];

/** A table to write to, and a database on which a test may act at a fault point. */
async function setUp(settings: { max?: number; isTheirs?: boolean } = {}) {
  const { url } = await freshDatabase();
  await withClient(url, (client) => client.query('CREATE TABLE mark (text text)'));
  const acts = new Map<FaultPoint, () => Promise<void> | void>();
  const config = { connectionString: url, max: settings.max ?? 2 };
  const pool = new pg.Pool(config);
  atTestEnd(() => pool.end());
  const { orm } = await connect(postgres(settings.isTheirs ? pool : config), {
    environment: { faultPoint: (point) => acts.get(point)?.() },
  });
  return { url, orm, acts };
}

async function backendPid(em: { execute(sql: string): Promise<{ pid: number }[]> }): Promise<number> {
  const [row] = await em.execute('select pg_backend_pid() as pid');
  return row!.pid;
}

async function terminate(url: string, pid: number): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('SELECT pg_terminate_backend($1)', [pid]);
    await waitFor(
      async () => (await client.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid])).rowCount === 0,
      {
        for: 'the backend to end',
      },
    );
  });
}

async function marks(url: string): Promise<unknown[]> {
  return await withClient(url, async (client) =>
    (await client.query('SELECT text FROM mark ORDER BY text')).rows.map(({ text }) => text),
  );
}

/** One transaction as the persistence layer makes it; answers the error that it ends with. */
async function writeMark(orm: Orm, text: string, between?: (em: Orm['em']) => Promise<void>): Promise<unknown> {
  const em = orm.em.fork();
  await em.begin();
  try {
    await em.execute('insert into mark values (?)', [text]);
    await between?.(em as Orm['em']);
    await em.commit();
    return undefined;
  } catch (error) {
    await em.rollback();
    return toTurnlockError(error);
  }
}

test.each([false, true])(
  'C58 idle connections that the server ends are replaced, and the process lives (pool handed in: %s)',
  async (isTheirs) => {
    const { url, orm } = await setUp({ isTheirs, max: 1 });
    const before = await backendPid(orm.em.fork());
    await terminate(url, before);
    await waitFor(async () => (await backendPid(orm.em.fork()).catch(() => before)) !== before, {
      for: 'a new connection',
    });
    expect(await writeMark(orm, 'after')).toBeUndefined();
  },
);

test('C58 a connection that ends inside a transaction aborts it, is dropped, and the next one works', async () => {
  const { url, orm } = await setUp({ max: 1 });
  let pid = 0;
  const error = await writeMark(orm, 'lost', async (em) => {
    pid = await backendPid(em);
    await terminate(url, pid);
    await em.execute('select 1');
  });
  expect(error).toMatchObject({ category: 'transient' });
  expect(await writeMark(orm, 'kept')).toBeUndefined();
  expect(await backendPid(orm.em.fork())).not.toBe(pid);
  expect(await marks(url)).toEqual(['kept']);
});

test('C58 a connection that ends before COMMIT is sent leaves the commit unknown, and nothing written', async () => {
  const { url, orm } = await setUp({ max: 1 });
  const error = await writeMark(orm, 'lost', async (em) => terminate(url, await backendPid(em)));
  expect(error).toMatchObject({ code: 'COMMIT_UNKNOWN' });
  expect(await marks(url)).toEqual([]);
  expect(await writeMark(orm, 'kept')).toBeUndefined();
});

test('C58 a backend that is ended while COMMIT waits leaves the commit unknown', async () => {
  const { url, orm } = await setUp({ max: 1 });
  await withClient(url, async (holder) => {
    // A deferred trigger that waits for a lock keeps COMMIT from being answered.
    await holder.query(`CREATE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON mark DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_commit()`);
    await holder.query('SELECT pg_advisory_lock(1)');
    let pid = 0;
    const writing = writeMark(orm, 'lost', async (em) => {
      pid = await backendPid(em);
    });
    await waitFor(
      async () =>
        (await holder.query(`SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'advisory'`, [pid])).rowCount,
      {
        for: 'COMMIT to wait',
      },
    );
    await terminate(url, pid);
    expect(await writing).toMatchObject({ code: 'COMMIT_UNKNOWN' });
  });
  expect(await marks(url)).toEqual([]);
});

test('C58 a COMMIT whose answer is lost is unknown though it happened, and is not cancelled', async () => {
  const { url, orm, acts } = await setUp({ max: 1 });
  acts.set('commitSent', async () => {
    await waitFor(async () => (await marks(url)).length === 1, { for: 'the commit to happen' });
    throw new Error('the connection is gone');
  });
  expect(await writeMark(orm, 'kept')).toMatchObject({ code: 'COMMIT_UNKNOWN' });
  acts.clear();
  expect(await marks(url)).toEqual(['kept']);
  expect(await writeMark(orm, 'next')).toBeUndefined();
});

test('a disconnect at any point of the transaction gives the connection up, and a pool of one goes on', async () => {
  const { url, orm, acts } = await setUp({ max: 1 });
  for (const point of ['beforeBegin', 'afterStatement', 'beforeCommit', 'commitSent', 'afterCommit'] as const) {
    acts.set(point, () => {
      throw new Error('the connection is gone');
    });
    const error = await writeMark(orm, point).catch((reason) => reason); // begin is outside of what is caught there
    expect(isTurnlockError(error, 'COMMIT_UNKNOWN')).toBe(point === 'commitSent' || point === 'afterCommit');
    expect(error).toBeInstanceOf(Error);
    acts.clear();
    expect(await writeMark(orm, `after ${point}`)).toBeUndefined();
  }
  expect(await marks(url)).toEqual(expect.arrayContaining(['after beforeBegin', 'after commitSent', 'afterCommit']));
  expect(await marks(url)).not.toEqual(expect.arrayContaining(['afterStatement']));
});

test('an error that a deferred trigger answers to COMMIT is a definite abort, and the connection is kept', async () => {
  const { url, orm } = await setUp({ max: 1 });
  await withClient(url, (client) =>
    client.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no' USING ERRCODE = 'TL001'; END $$;
      CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON mark DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`),
  );
  const before = await backendPid(orm.em.fork());
  expect(await writeMark(orm, 'lost')).toMatchObject({ code: 'DATABASE_REFUSED', details: { sqlState: 'TL001' } });
  expect(await backendPid(orm.em.fork())).toBe(before);
});
