import { beforeAll, expect, test } from 'vitest';
import { isTurnlockError, type Session } from '../../../index.ts';
import type { RuntimeSuite } from '../../support/runtime-database.ts';
import { openRuntime, openSession } from '../../support/runtime-open.ts';
import { bookingAgent, executionOf, INSERT, makeShop, refundsOf } from './transactional-scene.ts';

/** What a transactional tool has, and what becomes of what it wrote. */
export const describeTransactional: RuntimeSuite = (database) => {
  let orders = 0;
  const nextOrder = () => `order-${++orders}`;
  beforeAll(() => makeShop(database()));

  type Execute = Parameters<typeof bookingAgent>[1];

  /** A run of one call that books, and what became of it. */
  async function book(execute: Execute, more: Parameters<typeof bookingAgent>[2] = {}) {
    const order = nextOrder();
    const agent = bookingAgent(order, execute, more);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const result = await (await session.send('go')).result();
    const refunds = await refundsOf(database(), order);
    return { session, result, refunds, row: await executionOf(database(), session.sessionId) };
  }

  test('what it wrote and that it wrote it are one commit', async () => {
    const { session, result, refunds, row } = await book(async ({ order }, { transaction, executionId, tenantId }) => {
      const { rows, rowCount, command } = await transaction.query(INSERT, [order, executionId]);
      const { rows: seen } = await transaction.query(`SELECT current_setting('turnlock.tenant') AS tenant`);
      return { refund: typeof rows[0].refund_id, rowCount, command, isTenant: seen[0].tenant === tenantId };
    });
    expect(result).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(refunds).toBe(1);
    expect(row).toMatchObject({ status: 'SUCCESS', attempt: 1 });
    expect(row.output).toEqual({ refund: 'number', rowCount: 1, command: 'INSERT', isTenant: true });
    const types = (await session.transitions()).map(({ type }) => type);
    expect(types).toEqual(['user.messaged', 'model.calledTools', 'tool.settled', 'model.replied']);
  });

  test('values are read as node-postgres reads them, and parameters written so', async () => {
    const { row } = await book(async (_, { transaction }) => {
      const text = `SELECT now() AS at, 9007199254740993::int8 AS big, ARRAY[1, 2] AS list, '{"a": 1}'::jsonb AS json, true AS yes,
        $1::text[] AS texts, $2::jsonb AS given, $3::timestamptz = '2026-01-01T00:00:00Z' AS same, $4::int IS NULL AS none`;
      const values = [['a', 'b "c" \\', null], { n: 1 }, new Date('2026-01-01T00:00:00Z'), null];
      const { rows } = await transaction.query(text, values);
      const { at, ...rest } = rows[0];
      const { rows: arrays } = await transaction.query({ text: 'SELECT 1 AS a, 2 AS a', rowMode: 'array' });
      return { isDate: at instanceof Date, ...rest, arrays };
    });
    expect(row.output).toEqual({
      isDate: true,
      big: '9007199254740993',
      list: [1, 2],
      json: { a: 1 },
      yes: true,
      texts: ['a', 'b "c" \\', null],
      given: { n: 1 },
      same: true,
      none: true,
      arrays: [[1, 2]],
    });
  });

  test('C31 what it throws undoes what it wrote, and the session goes on', async () => {
    const { result, refunds, row } = await book(async ({ order }, { transaction, executionId }) => {
      await transaction.query(INSERT, [order, executionId]);
      throw new Error('no such order');
    });
    expect(result).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect([refunds, row.status, row.error_message]).toEqual([0, 'FAILED', 'no such order']);
  });

  test.each<[string, Execute, RegExp]>([
    [
      'an error of SQL that it does not catch',
      (_, { transaction }) => transaction.query('SELECT 1 / 0'),
      /division by zero/,
    ],
    [
      'an error of SQL that it catches, and goes on',
      async ({ order }, { transaction, executionId }) => {
        await transaction.query(INSERT, [order, executionId]);
        await transaction.query('SELECT 1 / 0').catch(() => undefined);
        return 'all is well';
      },
      /division by zero/,
    ],
    [
      'a constraint of the application that is checked at its end',
      async ({ order }, { transaction, executionId }) => {
        await transaction.query(INSERT, [order, executionId]);
        await transaction.query(`INSERT INTO shop.lines VALUES (1, 'nowhere')`);
        return 'all is well';
      },
      /violates foreign key/,
    ],
  ])('%s: nothing is left of it, the call has failed, and the session goes on', async (_title, execute, message) => {
    const { result, refunds, row } = await book(execute);
    expect(result).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect([refunds, row.status]).toEqual([0, 'FAILED']);
    expect(row.error_message).toMatch(message);
  });

  test('a savepoint of its own undoes a part, and the rest counts', async () => {
    const { refunds, row } = await book(async ({ order }, { transaction, executionId }) => {
      await transaction.query(INSERT, [order, executionId]);
      await transaction.query('SAVEPOINT mine');
      await transaction.query('SELECT 1 / 0').catch(() => undefined);
      await transaction.query('ROLLBACK TO SAVEPOINT mine');
      await transaction.query('RELEASE mine');
    });
    expect([refunds, row.status]).toEqual([1, 'SUCCESS']);
  });

  test.each([
    'COMMIT',
    'end',
    'ROLLBACK',
    'rollback work',
    'ABORT',
    'BEGIN',
    'START TRANSACTION',
    'PREPARE TRANSACTION $$x$$',
    '/* a /* nested */ comment */ -- and a line\n  commit',
    ' ; ; COMMIT',
    '-- COMMIT is next\n--\nCOMMIT',
    'SET search_path = pg_catalog',
    'SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY',
    'RESET ALL',
    'DISCARD ALL',
    '-- PostgreSQL ends this comment here\rCOMMIT',
    'COPY shop.refunds FROM STDIN',
  ])('%j is refused before it is sent: nothing of the transaction is in the hands of a tool', async (statement) => {
    const { refunds, row } = await book(async ({ order }, { transaction, executionId }) => {
      await transaction.query(INSERT, [order, executionId]);
      const refused = await transaction.query(statement).catch((error: unknown) => error);
      return isTurnlockError(refused, 'TRANSACTION_CONTROL');
    });
    expect([refunds, row.status, row.output]).toEqual([1, 'SUCCESS', true]);
  });

  test('as another role: what it wrote counts, and what comes after it is written by the runtime’s own', async () => {
    const query = database().query;
    await query(
      `DO $$ BEGIN CREATE ROLE turnlock_test_clerk; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`,
    );
    await query('GRANT USAGE ON SCHEMA shop TO turnlock_test_clerk');
    await query('GRANT SELECT, INSERT ON shop.refunds TO turnlock_test_clerk');
    const { result, refunds, row } = await book(async ({ order }, { transaction, executionId }) => {
      await transaction.query('SET LOCAL ROLE turnlock_test_clerk');
      await transaction.query(INSERT, [order, executionId]);
      return (await transaction.query('SELECT current_user AS name')).rows;
    });
    expect(result).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect([refunds, row.status, row.output]).toEqual([1, 'SUCCESS', [{ name: 'turnlock_test_clerk' }]]);
  });

  test('several statements in one text are refused by the server, also where the last one would commit', async () => {
    const { refunds, row } = await book(({ order }, { transaction, executionId }) =>
      transaction.query(
        `INSERT INTO shop.refunds (order_id, execution_id) VALUES ('${order}', '${executionId}'); COMMIT`,
      ),
    );
    expect([refunds, row.status]).toEqual([0, 'FAILED']);
    expect(row.error_message).toMatch(/multiple commands/);
  });

  test('what is kept of a transaction is of no use once execute has returned', async () => {
    const kept: { query(text: string): Promise<unknown>; em: { execute(text: string): Promise<unknown> } }[] = [];
    const { row } = await book((_, { transaction, em }) => {
      kept.push({ query: transaction.query, em: em as never });
    });
    expect(row.status).toBe('SUCCESS');
    for (const late of [() => kept[0]!.query('SELECT 1'), () => kept[0]!.em.execute('select 1')]) {
      await expect(late()).rejects.toMatchObject({ code: 'TRANSACTION_OVER' });
    }
  });

  test('a call into the runtime from within is refused, and does not wait for itself', async () => {
    let session: Session | undefined;
    const order = nextOrder();
    const agent = bookingAgent(order, async () => {
      const calls = [
        () => session!.send('again'),
        () => session!.status(),
        () => session!.cancel({ by: 'tool' }),
        () => runtime.createSession({ agent: agent.name, tenantId: 'tenant', userId: 'user' }),
        () => runtime.recover(),
      ];
      const codes: unknown[] = [];
      for (const each of calls)
        codes.push(
          await each().then(
            () => null,
            (error: { code?: string }) => error.code,
          ),
        );
      return codes;
    });
    const runtime = await openRuntime(database(), [agent]);
    session = await openSession(runtime, agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    const { output } = await executionOf(database(), session.sessionId);
    expect(new Set(output)).toEqual(new Set(['TRANSACTION_REENTRANT']));
  });

  test('its time is over: what it wrote is rolled back, so it is known to have failed', async () => {
    const { refunds, row } = await book(
      async ({ order }, { transaction, executionId, signal }) => {
        await transaction.query(INSERT, [order, executionId]);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await transaction.query(INSERT, [order, executionId]);
      },
      { timeoutMs: 200 },
    );
    expect([refunds, row.status, row.error_code]).toEqual([0, 'FAILED', 'TOOL_TIMED_OUT']);
  });

  test('with retry, whatever it throws is tried again: nothing is left of an attempt that threw', async () => {
    const { refunds, row, session } = await book(
      async ({ order }, { transaction, executionId, attempt }) => {
        await transaction.query(INSERT, [order, executionId]);
        if (attempt === 1) throw new Error('not now');
      },
      { retry: { attempts: 2, backoff: { initialMs: 0 } } as never },
    );
    expect([refunds, row.status, row.attempt]).toEqual([1, 'SUCCESS', 2]);
    expect((await session.transitions()).map(({ type }) => type)).toContain('tool.attemptFailed');
  });
};
