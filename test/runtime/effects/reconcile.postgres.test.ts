import { expect, test } from 'vitest';
import { z } from 'zod';
import { cannotTell, defineTool, done, notDone, type Reconciliation, ToolError } from '../../../index.ts';
import { ManualClock } from '../../../testing/clock/manual-clock.ts';
import { openMortal, recoverLater } from '../../support/runtime-crash.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';

const QUICKLY = { reconcileBackoffMs: 0 };

type Answer = (asked: number, signal: AbortSignal) => Reconciliation<string> | Promise<Reconciliation<string>>;

onPostgres((database) => {
  /** An agent with one reconcilable tool. It acts at each call; what it says of an act is `answer`. */
  function agentThat(answer: Answer, act: (attempt: number) => unknown = () => 'refunded') {
    const seen = { acts: [] as string[], asked: [] as string[] };
    const refund = defineTool({
      name: 'refund',
      description: 'Refunds.',
      inputSchema: z.object({ order: z.string() }),
      outputSchema: z.string(),
      effect: 'reconcilable',
      timeoutMs: 60_000,
      execute: async (_, { attempt, idempotencyKey }) => {
        seen.acts.push(`${attempt} ${idempotencyKey}`);
        return (await act(attempt)) as string;
      },
      reconcile: async ({ order }, { attempt, idempotencyKey, signal }) => {
        seen.asked.push(`${attempt} ${idempotencyKey} ${order}`);
        return await answer(seen.asked.length, signal);
      },
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('refund', { order: '42' })] }, 'done'), [refund]);
    return { agent, seen };
  }

  /** A run whose process dies around the act, and what another process makes of it. */
  async function dieAround(point: 'beforeEffect' | 'afterEffect', answer: Answer, limits = {}) {
    const { agent, seen } = agentThat(answer);
    const where = ({ executionId }: { executionId?: string }) => executionId !== undefined;
    const { runtime, plan } = await openMortal(database(), [agent], [{ point, fault: 'crash', where }]);
    const { sessionId, tenantId } = await openSession(runtime, agent);
    await (await runtime.session({ sessionId, tenantId })).send('go');
    await plan.struck;
    const { runtime: second, recoveries } = await recoverLater(database(), [agent], { ...QUICKLY, ...limits });
    return { seen, recoveries, agent, runtime: second, session: await second.session({ sessionId, tenantId }) };
  }

  async function rowOf(sessionId: string) {
    const [row] = await database().query(
      `SELECT status, attempt, settled_by, unknown_reason, error_message, output_payload
         FROM turnlock.agent_tool_executions WHERE session_id = $1`,
      [sessionId],
    );
    return row;
  }

  test('C02 done: the call has succeeded with the output that was found, acts once, and the row says who found it', async () => {
    const { seen, recoveries, session } = await dieAround('afterEffect', () => done('found'));
    expect(recoveries).toMatchObject([{ state: 'IDLE' }]);
    expect([seen.acts.length, seen.asked]).toEqual([1, [`${seen.acts[0]} 42`]]);
    expect(await rowOf(session.sessionId)).toMatchObject({
      status: 'SUCCESS',
      attempt: 1,
      settled_by: 'reconcile',
      output_payload: 'found',
    });
    expect((await session.history())[2]).toMatchObject({ content: 'found', parts: [{ outcome: 'succeeded' }] });
  });

  test('C02 not done: the call runs again with the same key', async () => {
    const { seen, recoveries, session } = await dieAround('beforeEffect', () => notDone());
    expect(recoveries).toMatchObject([{ state: 'IDLE' }]);
    expect([seen.acts.length, seen.asked.length]).toEqual([1, 1]);
    expect(seen.acts[0]).toBe(`2 ${seen.asked[0]!.split(' ')[1]}`);
    expect(await rowOf(session.sessionId)).toMatchObject({ status: 'SUCCESS', attempt: 2, settled_by: null });
  });

  test('C02 cannot tell: a person is asked, the row says why, and nothing runs', async () => {
    const { seen, recoveries, session, runtime } = await dieAround('afterEffect', () =>
      cannotTell('the bank has no search'),
    );
    const asked = await runtime.awaiting({ tenantId: 'tenant', sessionId: session.sessionId });
    expect(asked).toMatchObject([{ reason: 'unknown', unknownReason: 'crash', question: 'the bank has no search' }]);
    expect(recoveries).toMatchObject([{ state: 'AWAITING_INPUT' }]);
    expect([seen.acts.length, seen.asked.length]).toEqual([1, 1]);
    expect(await rowOf(session.sessionId)).toMatchObject({
      status: 'RUNNING',
      unknown_reason: 'crash',
      error_message: 'the bank has no search',
    });
  });

  test('one that throws is asked again, a bounded number of times, and then a person is', async () => {
    const twice = await dieAround('afterEffect', (asked) => {
      if (asked < 3) throw new Error('search is down');
      return done('found');
    });
    expect(twice.recoveries).toMatchObject([{ state: 'IDLE' }]);
    expect(twice.seen.asked).toHaveLength(3);
    const always = await dieAround('afterEffect', () => Promise.reject(new Error('search is down')));
    expect(always.recoveries).toMatchObject([{ state: 'AWAITING_INPUT' }]);
    expect(always.seen.asked).toHaveLength(5);
    const { error_message: message } = await rowOf(always.session.sessionId);
    expect(message).toBe('reconcile did not answer (asked 5 times): search is down');
    const other = await dieAround('afterEffect', () => 'yes' as never, { maxReconcileAttempts: 1 });
    expect(other.recoveries).toMatchObject([{ state: 'AWAITING_INPUT' }]);
  });

  test('an act that never happens is tried a bounded number of times, and then it has failed', async () => {
    const { agent, seen } = agentThat(
      () => notDone(),
      () => Promise.reject(new ToolError('no answer', { outcome: 'unknown' })),
    );
    const clock = new ManualClock();
    const limits = { ...QUICKLY, leaseMs: 3_600_000, heartbeatMs: 1_200_000 };
    const session = await openSession(await openRuntime(database(), [agent], { environment: clock, limits }), agent);
    const run = await session.send('go');
    for (const attempt of [1, 2, 3]) {
      // Before its deadline "not done" is no answer: the request may still arrive.
      await waitFor(() => seen.asked.length === 2 * attempt - 1, { for: `attempt ${attempt} to be asked about` });
      await waitFor(() => clock.sleepsMs.some((ms) => ms > 0 && ms <= 60_000), {
        for: 'the deadline to be waited for',
      });
      expect(seen.acts).toHaveLength(attempt);
      clock.advance(61_000);
      await database().moveClock(61_000);
    }
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(new Set(seen.acts.map((act) => act.slice(2))).size).toBe(1);
    expect(await rowOf(session.sessionId)).toMatchObject({ status: 'FAILED', attempt: 3, settled_by: 'reconcile' });
  });

  test('nobody is asked before the deadline and the grace period are over, and each ask has a time of its own', async () => {
    const signals: AbortSignal[] = [];
    const { agent, seen } = agentThat((_, signal) => {
      signals.push(signal);
      return new Promise<never>(() => undefined);
    });
    const where = ({ executionId }: { executionId?: string }) => executionId !== undefined;
    const dies = { point: 'afterEffect', fault: 'crash', where } as const;
    const { runtime, plan } = await openMortal(database(), [agent], [dies], { graceMs: 600_000 });
    const session = await openSession(runtime, agent);
    await session.send('go');
    await plan.struck;
    await database().moveClock(20_000);
    const clock = new ManualClock();
    const limits = { graceMs: 600_000, leaseMs: LONG_MS, maxReconcileAttempts: 2, ...QUICKLY };
    const second = await openRuntime(database(), [agent], { environment: clock, limits });
    const recovering = second.recover();
    await waitFor(() => clock.sleepsMs.some((ms) => ms > 30_000 && ms <= 60_000), { for: 'the next process to wait' });
    expect(seen.asked).toHaveLength(0);
    clock.advance(660_000);
    for (const asks of [1, 2]) {
      await waitFor(() => seen.asked.length === asks, { for: `ask ${asks}` });
      await waitFor(() => clock.sleepsMs.some((ms) => ms > 50_000 && ms <= 60_000), { for: 'the time of the ask' });
      clock.advance(60_000);
      await waitFor(() => signals[asks - 1]!.aborted, { for: 'its signal' });
    }
    expect(await recovering).toMatchObject([{ state: 'AWAITING_INPUT' }]);
  });

  test('evidence that comes while reconcile is asked wins: nothing runs again, whatever the answer', async () => {
    const acting = gate();
    const acted = gate<string>();
    const asked = gate();
    const answered = gate();
    const { agent, seen } = agentThat(
      async () => {
        asked.open();
        await answered.opened;
        return notDone();
      },
      async () => {
        acting.open();
        return await acted.opened;
      },
    );
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await session.send('go');
    await acting.opened;
    await database().moveClock(LONG_MS);
    const other = await openRuntime(database(), [agent], { limits: QUICKLY });
    const recovering = waitFor(async () => (await other.recover()).length > 0, {
      for: 'the other worker to take over',
    });
    await asked.opened;
    acted.open('late');
    const evidence = () =>
      database().query('SELECT FROM turnlock.agent_tool_evidence WHERE session_id = $1', [session.sessionId]);
    await waitFor(async () => (await evidence()).length > 0, { for: 'the late result to be kept' });
    answered.open();
    await recovering;
    await waitFor(async () => (await session.status()).state === 'IDLE', { for: 'the session to rest' });
    expect([seen.acts.length, seen.asked.length]).toEqual([1, 1]);
    expect(await rowOf(session.sessionId)).toMatchObject({
      status: 'SUCCESS',
      output_payload: 'late',
      settled_by: null,
    });
  });

  test('a runtime that closes while it asks leaves the question to the next one', async () => {
    const asked = gate();
    let isOpen = false;
    const { agent, seen } = agentThat(
      (_, signal) => {
        asked.open();
        return isOpen ? done('found') : new Promise((_resolve, reject) => signal.addEventListener('abort', reject));
      },
      () => Promise.reject(new ToolError('no answer', { outcome: 'unknown' })),
    );
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await session.send('go');
    await asked.opened;
    await runtime.close();
    isOpen = true;
    const { recoveries } = await recoverLater(database(), [agent]);
    expect(recoveries).toMatchObject([{ state: 'IDLE' }]);
    expect([seen.acts.length, seen.asked.length]).toEqual([1, 2]);
  });
});
