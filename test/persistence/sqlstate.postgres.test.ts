import { inspect } from 'node:util';
import { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { isTurnlockError, type TurnlockError } from '../../errors.ts';
import { toTurnlockError } from '../../persistence/sqlstate.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { urlOfDatabase } from '../support/database-names.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { waitForLockWait } from '../support/wait-for-lock-wait.ts';
import { withClient } from '../support/with-client.ts';

const SECRET = 'sk_live_1';

/** The translation of what `work` throws, checked to hold nothing of statement, parameters or rows. */
async function provoked(work: () => Promise<unknown>): Promise<TurnlockError> {
  const thrown: unknown = await work().then(
    () => expect.unreachable('nothing was thrown'),
    (error: unknown) => error,
  );
  const error = toTurnlockError(thrown);
  if (!isTurnlockError(error)) throw new Error('was not translated', { cause: thrown });
  expect(inspect(error, { showHidden: true, depth: 9 })).not.toContain(SECRET);
  return error;
}

const TABLES = `
  CREATE TABLE parent (id int PRIMARY KEY, name text, CONSTRAINT uq_session_external_id UNIQUE (name));
  CREATE TABLE child (id int PRIMARY KEY, parent_id int CONSTRAINT fk_parent REFERENCES parent DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT check_id CHECK (id > 0));
  INSERT INTO parent VALUES (1, '${SECRET}');
  CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'session % may not', NEW.id USING ERRCODE = 'TL002', CONSTRAINT = 'session_transition', TABLE = TG_TABLE_NAME;
  END $$;
  CREATE TABLE guarded (id int);
  CREATE TRIGGER guard BEFORE INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION refuse();
  CREATE TABLE secured (tenant text);
  ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
  CREATE POLICY one ON secured USING (tenant = 'a');`;

async function prepared(): Promise<string> {
  const { url } = await freshDatabase({ state: 'empty' });
  await withClient(url, (client) => client.query(TABLES));
  return url;
}

describe('what a server says, through pg', () => {
  test.each([
    [`INSERT INTO parent VALUES (2, '${SECRET}')`, 'EXTERNAL_ID_CONFLICT', '23505', 'uq_session_external_id'],
    ['INSERT INTO parent VALUES (1, NULL)', 'DATABASE_REFUSED', '23505', 'parent_pkey'],
    ['INSERT INTO child VALUES (-1, 1)', 'DATABASE_REFUSED', '23514', 'check_id'],
    ['INSERT INTO guarded VALUES (7)', 'DATABASE_REFUSED', 'TL002', 'session_transition'],
    [`SELECT '${SECRET}' FROM missing`, 'SCHEMA_MISSING', '42P01', undefined],
    [`SELECT '${SECRET}' FROM missing.parent`, 'SCHEMA_MISSING', '42P01', undefined],
    ['SELECT missing FROM parent', 'SCHEMA_OUTDATED', '42703', undefined],
    ['SELECT missing(1)', 'SCHEMA_OUTDATED', '42883', undefined],
    [`SELECT '${SECRET}'::int`, 'DATABASE_FAILED', '22P02', undefined],
    [`SELECT '{"a":"\\u0000${SECRET}"}'::jsonb`, 'INVARIANT_BROKEN', '22P05', undefined],
    ['SET statement_timeout = 1; SELECT pg_sleep(60)', 'DATABASE_TRANSIENT', '57014', undefined],
    [`BEGIN READ ONLY; INSERT INTO parent VALUES (3, '${SECRET}')`, 'DATABASE_TRANSIENT', '25006', undefined],
  ])('%s', async (sql, code, sqlState, constraint) => {
    const url = await prepared();
    await withClient(url, async (client) => {
      const error = await provoked(() => client.query(sql));
      expect([error.code, error.details.sqlState, error.details.constraint]).toEqual([code, sqlState, constraint]);
    });
  });

  test('a deferred constraint: an answer to COMMIT that is a definite abort', async () => {
    const url = await prepared();
    await withClient(url, async (client) => {
      await client.query('BEGIN; INSERT INTO child VALUES (1, 99)');
      const thrown: unknown = await client.query('COMMIT').catch((error: unknown) => error);
      expect(toTurnlockError(thrown)).toMatchObject({
        code: 'DATABASE_REFUSED',
        details: { sqlState: '23503', constraint: 'fk_parent' },
      });
    });
  });

  test('a role without rights, and a row of another tenant', async () => {
    const url = await prepared();
    await withClient(url, async (client) => {
      const role = `sqlstate_${process.pid}`;
      await client.query(`CREATE ROLE ${role}; GRANT INSERT ON secured TO ${role}`);
      try {
        await client.query(`SET ROLE ${role}`);
        const missing = await provoked(() => client.query('SELECT * FROM parent'));
        expect([missing.code, missing.details.sqlState]).toEqual(['PRIVILEGE_MISSING', '42501']);
        const refused = await provoked(() => client.query('INSERT INTO secured VALUES ($1)', [SECRET]));
        expect([refused.code, refused.details.sqlState]).toEqual(['DATABASE_REFUSED', '42501']);
      } finally {
        await client.query(`RESET ROLE; DROP OWNED BY ${role}; DROP ROLE ${role}`);
      }
    });
  });

  test('a serialization failure and a lock that is not granted in time', async () => {
    const url = await prepared();
    await withClient(url, (holder) =>
      withClient(url, async (client) => {
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM parent');
        await holder.query(`UPDATE parent SET name = 'x'`);
        const serialization = await provoked(() => client.query(`UPDATE parent SET name = '${SECRET}'`));
        expect([serialization.code, serialization.details.sqlState]).toEqual(['DATABASE_TRANSIENT', '40001']);
        await client.query('ROLLBACK');
        await holder.query('BEGIN; SELECT pg_advisory_xact_lock(1)');
        await client.query(`BEGIN; SET LOCAL lock_timeout = '10ms'`);
        const lock = await provoked(() => client.query('SELECT pg_advisory_xact_lock(1)'));
        expect([lock.code, lock.details.sqlState]).toEqual(['DATABASE_TRANSIENT', '55P03']);
      }),
    );
  });

  test('a deadlock', async () => {
    const url = await prepared();
    await withClient(url, (one) =>
      withClient(url, async (other) => {
        await one.query('BEGIN; SELECT pg_advisory_xact_lock(1)');
        await other.query(`BEGIN; SET LOCAL deadlock_timeout = '10ms'; SELECT pg_advisory_xact_lock(2)`);
        const waiting = one.query('SELECT pg_advisory_xact_lock(2)');
        await waitForLockWait(url);
        const error = await provoked(() => other.query('SELECT pg_advisory_xact_lock(1)'));
        expect([error.code, error.details.sqlState]).toEqual(['DATABASE_TRANSIENT', '40P01']);
        await other.query('ROLLBACK');
        await waiting;
      }),
    );
  });

  test('a backend that an operator ends: the connection is lost', async () => {
    const url = await prepared();
    const victim = new pg.Client({ connectionString: url });
    victim.on('error', () => {});
    await victim.connect();
    const { rows } = await victim.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const error = provoked(() => victim.query(`SELECT pg_sleep(60), '${SECRET}'`));
    await withClient(url, (client) => client.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]));
    expect((await error).code).toBe('DATABASE_TRANSIENT');
    const after = await provoked(() => victim.query('SELECT 1'));
    expect(after.code).toBe('DATABASE_UNREACHABLE');
    await victim.end().catch(() => undefined);
  });
});

describe('what the way to a server says', () => {
  async function refusedLogin(change: (url: URL) => void): Promise<TurnlockError> {
    const url = new URL(inject('postgresUrl'));
    change(url);
    return provoked(() => withClient(url.href, (client) => client.query('SELECT 1')));
  }

  test('no such database, no such role', async () => {
    const missing = await provoked(() =>
      withClient(urlOfDatabase(inject('postgresUrl'), 'no_such_database'), (client) => client.query('SELECT 1')),
    );
    expect([missing.code, missing.details.sqlState]).toEqual(['DATABASE_LOGIN_REFUSED', '3D000']);
    const stranger = await refusedLogin((url) => {
      url.username = 'nobody_at_all';
      url.password = SECRET;
    });
    expect(stranger.code).toBe('DATABASE_LOGIN_REFUSED');
  });

  test('nobody listens, no such host', async () => {
    const nobody = await refusedLogin((url) => {
      url.port = '1';
      url.password = SECRET;
    });
    expect([nobody.code, nobody.details.reason]).toEqual(['DATABASE_UNREACHABLE', 'ECONNREFUSED']);
    const lost = await refusedLogin((url) => {
      url.hostname = 'no-such-host.invalid';
    });
    expect(lost.code).toBe('DATABASE_UNREACHABLE');
  });

  test('no connection of the pool in time', async () => {
    const { url } = await freshDatabase({ state: 'empty' });
    const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 700 });
    const taken = await pool.connect();
    const error = await provoked(() => pool.query('SELECT 1'));
    expect(error.code).toBe('DATABASE_UNREACHABLE');
    taken.release();
    await pool.end();
    expect((await provoked(() => pool.query('SELECT 1'))).code).toBe('DATABASE_UNREACHABLE');
  });
});

describe('what MikroORM makes of it', () => {
  test('keeps SQLSTATE and constraint, and we drop its text', async () => {
    const url = await prepared();
    const orm = await MikroORM.init({ clientUrl: url, entities: [], discovery: { warnWhenNoEntities: false } });
    atTestEnd(() => orm.close());
    const em = orm.em.fork();
    const unique = await provoked(() => em.execute('INSERT INTO parent VALUES (2, ?)', [SECRET]));
    expect([unique.code, unique.details.constraint]).toEqual(['EXTERNAL_ID_CONFLICT', 'uq_session_external_id']);
    const guarded = await provoked(() => em.execute('INSERT INTO guarded VALUES (7)'));
    expect(guarded.message).toBe(
      'database refused an illegal change: constraint session_transition of table guarded (found session 7 may not, SQLSTATE TL002, wanted what its triggers allow).',
    );
    const cast = await provoked(() => em.execute('SELECT ?::int', [SECRET]));
    expect(cast.code).toBe('DATABASE_FAILED');
    await orm.close();
  });
});
