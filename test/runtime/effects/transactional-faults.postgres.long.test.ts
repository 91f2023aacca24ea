import { beforeAll, expect, test } from 'vitest';
import { DEFERRED_CONSTRAINTS } from '../../../persistence/act-in-savepoint.ts';
import type { Fault } from '../../../testing/faults/fault-plan.ts';
import { openMortal, recoverLater } from '../../support/runtime-crash.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';
import { waitForLockWait } from '../../support/wait-for-lock-wait.ts';
import { loseTime } from '../faults/lose-time.ts';
import { bookingAgent, bookingTool, executionOf, INSERT, makeShop, refundsOf } from './transactional-scene.ts';

onPostgres((database) => {
  let orders = 0;
  beforeAll(() => makeShop(database()));

  /** An agent that books, counts how often it was asked to, and does what `before` says at its first time. */
  function agentOf(before: (pid: number) => unknown = () => undefined) {
    const order = `fault-${++orders}`;
    const seen = { acts: 0 };
    const agent = bookingAgent(order, async (_, { transaction, executionId }) => {
      seen.acts += 1;
      const { rows } = await transaction.query('SELECT pg_backend_pid() AS pid');
      await transaction.query(INSERT, [order, executionId]);
      if (seen.acts === 1) await before(rows[0].pid);
      return 'booked';
    });
    return { order, seen, agent };
  }

  test.each<[string, Fault['point'], number, number]>([
    ['after the first statement of the tool', 'afterStatement', 1, 2],
    ['after its write', 'afterStatement', 2, 2],
    ['when its savepoint is released', 'afterStatement', 3, 2],
    ['at the next statement of the commit', 'afterStatement', 4, 2],
    ['at the one after that', 'afterStatement', 5, 2],
    ['at the one after that too', 'afterStatement', 6, 2],
    ['when everything is written', 'beforeCommit', 1, 2],
    ['when COMMIT is sent', 'commitSent', 1, 1],
    ['when the commit is acknowledged', 'afterCommit', 1, 1],
  ])('C04 the process dies %s: one effect, one record', async (_title, point, occurrence, acts) => {
    const { order, seen, agent } = agentOf();
    const { runtime, plan } = await openMortal(
      database(),
      [agent],
      [{ point, occurrence, where: () => seen.acts > 0, fault: 'crash' }],
    );
    const session = await openSession(runtime, agent);
    await session.send('go').catch(() => undefined);
    await plan.struck;
    const { recoveries } = await recoverLater(database(), [agent]);
    expect(recoveries).toMatchObject([{ state: 'IDLE' }]);
    expect(await refundsOf(database(), order)).toBe(1);
    expect(await executionOf(database(), session.sessionId)).toMatchObject({ status: 'SUCCESS', attempt: 1 });
    expect(seen.acts).toBe(acts);
  });

  test('C22 the answer to COMMIT is lost: it is looked up, and the tool does not act again', async () => {
    const { order, seen, agent } = agentOf();
    const { runtime } = await openMortal(
      database(),
      [agent],
      [{ point: 'commitSent', where: () => seen.acts > 0, fault: 'disconnect' }],
    );
    const session = await openSession(runtime, agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect([seen.acts, await refundsOf(database(), order)]).toEqual([1, 1]);
  });

  test('C04 its backend is ended in the middle: the whole commit is done again, one effect', async () => {
    const { order, seen, agent } = agentOf((pid) => database().query('SELECT pg_terminate_backend($1)', [pid]));
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect([seen.acts, await refundsOf(database(), order)]).toEqual([2, 1]);
    expect(await executionOf(database(), session.sessionId)).toMatchObject({ status: 'SUCCESS', attempt: 1 });
  });

  test.each(['40001', '40P01'])(
    'SQLSTATE %s does the whole commit again, also where the tool caught it',
    async (state) => {
      const order = `again-${state}`;
      let acts = 0;
      const agent = bookingAgent(order, async (_, { transaction, executionId }) => {
        acts += 1;
        await transaction.query(INSERT, [order, executionId]);
        if (acts > 1) return 'booked';
        const raise = `DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '${state}'; END $$`;
        return await transaction.query(raise).catch(() => 'caught');
      });
      const session = await openSession(await openRuntime(database(), [agent]), agent);
      expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
      expect([acts, await refundsOf(database(), order)]).toEqual([2, 1]);
      expect(await executionOf(database(), session.sessionId)).toMatchObject({ status: 'SUCCESS', output: 'booked' });
    },
  );

  // PGlite has no statement time-out to run into.
  test('a statement that takes too long: nothing is left of it, and the session goes on', async () => {
    const order = 'too-long';
    const agent = bookingAgent(order, async (_, { transaction, executionId }) => {
      await transaction.query(INSERT, [order, executionId]);
      await transaction.query('SET LOCAL statement_timeout = 1');
      return transaction.query('SELECT pg_sleep(5)');
    });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(await refundsOf(database(), order)).toBe(0);
    const row = await executionOf(database(), session.sessionId);
    expect(row).toMatchObject({ status: 'FAILED', error_message: expect.stringMatching(/statement timeout/) });
  });

  test('C14 a worker that has lost the session does not act', async () => {
    const slow = gate();
    const began = gate();
    const { order, seen, agent: booking } = agentOf();
    const wait = looseTool('wait', async () => {
      began.open();
      await slow.opened;
    });
    const book = [...booking.tools.values()][0]!;
    const agent = scriptedAgent(eachRun({ toolCalls: [call('wait'), call('book', { order })] }, 'done'), [wait, book]);
    const limits = { maxParallelTools: 1, heartbeatMs: 1_000_000, leaseMs: 2_000_000 };
    const session = await openSession(await openRuntime(database(), [agent], { limits }), agent);
    await session.send('go');
    await began.opened;
    // Another holder takes the session over and leaves it: the token has moved.
    await database().query(`UPDATE turnlock.agent_sessions SET lease_holder = 'other' WHERE session_id = $1`, [
      session.sessionId,
    ]);
    slow.open();
    await waitFor(
      async () =>
        (await database().query('SELECT FROM turnlock.agent_tool_evidence WHERE session_id = $1', [session.sessionId]))
          .length > 0,
      { for: 'the late result of the sibling to be kept' },
    );
    expect([seen.acts, await refundsOf(database(), order)]).toEqual([0, 0]);
  });

  /** Matches the passages of `point` once a row was inserted into `table`. */
  function pointAfter(point: Fault['point'], table: string): NonNullable<Fault['where']> {
    let isInserted = false;
    return (passage) => {
      isInserted ||= passage.statement?.startsWith(`insert into "turnlock"."${table}"`) ?? false;
      return isInserted && passage.point === point;
    };
  }

  test('C14 its session is taken over while its commit waits for the lock: it does not act', async () => {
    const tokens: number[] = [];
    const order = 'taken-over';
    const agent = bookingAgent(order, async (_, { transaction, executionId, fencingToken }) => {
      tokens.push(fencingToken);
      await transaction.query(INSERT, [order, executionId]);
      return 'booked';
    });
    const { runtime, plan: first } = await openMortal(
      database(),
      [agent],
      // The transaction after that of the start is the one in which the tool acts.
      [{ point: 'any', where: pointAfter('beforeBegin', 'agent_tool_executions'), fault: 'stall' }],
    );
    const session = await openSession(runtime, agent);
    await session.send('go');
    await first.struck;
    await loseTime(database(), session.sessionId);
    const { runtime: taking, plan: other } = await openMortal(
      database(),
      [agent],
      [{ point: 'any', where: pointAfter('beforeCommit', 'agent_transitions'), fault: 'stall' }],
    );
    const recovering = taking.recover();
    await other.struck;
    first.resume();
    await waitForLockWait(database().url, { event: 'advisory' });
    other.resume();
    expect(await recovering).toMatchObject([{ state: 'IDLE' }]);
    await runtime.close();
    expect(tokens).toEqual([2]);
    expect(await refundsOf(database(), order)).toBe(1);
  });

  test('C14 it is paused inside its tool past its lease: what it wrote is gone, another one acts, and it cannot write any more', async () => {
    const order = 'paused';
    const refused: unknown[] = [];
    let acts = 0;
    const agent = bookingAgent(
      order,
      async (_, { transaction, executionId }) => {
        acts += 1;
        const isFirst = acts === 1;
        await transaction.query(INSERT, [order, executionId]);
        if (isFirst) await transaction.query(INSERT, [order, executionId]).catch((error) => refused.push(error));
        return 'booked';
      },
      { timeoutMs: 300 },
    );
    const { runtime, plan } = await openMortal(
      database(),
      [agent],
      [{ point: 'afterStatement', where: ({ statement }) => statement === INSERT, fault: 'stall' }],
      { statementTimeoutMs: 300 },
    );
    const session = await openSession(runtime, agent);
    await session.send('go');
    await plan.struck;
    await loseTime(database(), session.sessionId);
    const second = await openRuntime(database(), [agent]);
    const isRecovered = async () => (await second.recover()).some(({ state }) => state === 'IDLE');
    await waitFor(isRecovered, { for: 'its transaction to be ended and the session to be taken over' });
    plan.resume();
    await runtime.close();
    expect(refused).toHaveLength(1);
    expect([acts, await refundsOf(database(), order)]).toEqual([2, 1]);
    expect(await executionOf(database(), session.sessionId)).toMatchObject({ status: 'SUCCESS', attempt: 1 });
  });

  test('C31 parallel calls: each transactional one on its own, siblings unharmed by one that fails', async () => {
    const book = bookingTool(async ({ order }, { transaction, executionId }) => {
      await transaction.query(INSERT, [order, executionId]);
      if (order === 'bad') throw new Error('no');
      return order;
    });
    const note = looseTool('note', () => 'noted');
    const calls = ['good-1', 'bad', 'good-2'].map((order) => call('book', { order }));
    const agent = scriptedAgent(eachRun({ toolCalls: [call('note'), ...calls] }, 'done'), [book, note]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    const turns = (await session.history()).filter(({ role }) => role === 'tool');
    expect(turns.map(({ content }) => content)).toEqual(['noted', 'good-1', 'The call failed: no', 'good-2']);
    const refunds: number[] = [];
    for (const order of ['good-1', 'bad', 'good-2']) refunds.push(await refundsOf(database(), order));
    expect(refunds).toEqual([1, 0, 1]);
  });

  test('what is checked at the end of a commit is known by name', async () => {
    const rows = await database().query(
      `SELECT conname FROM pg_constraint WHERE connamespace = 'turnlock'::regnamespace AND condeferred ORDER BY conname`,
    );
    expect(rows.map(({ conname }) => conname)).toEqual([...DEFERRED_CONSTRAINTS].sort());
  });
});
