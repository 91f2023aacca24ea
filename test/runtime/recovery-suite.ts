import { expect, test } from 'vitest';
import type { ToolEffect } from '../../index.ts';
import { ManualClock } from '../../testing/clock/manual-clock.ts';
import { openMortal, recoverLater } from '../support/runtime-crash.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../support/runtime-script.ts';
import { waitFor } from '../support/wait-for.ts';

/** Processes that die, and others that go on. */
export const describeRecovery: RuntimeSuite = (database) => {
  /** A run of one call whose process dies at the given point around the act. */
  async function dieAround(point: 'beforeEffect' | 'afterEffect', effect: ToolEffect) {
    const keys: string[] = [];
    const charge = looseTool('charge', (_, { idempotencyKey }) => keys.push(idempotencyKey), { effect });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge]);
    const ofTool = (passage: { executionId?: string }) => passage.executionId !== undefined;
    const { runtime, plan } = await openMortal(database(), [agent], [{ point, fault: 'crash', where: ofTool }]);
    const session = await openSession(runtime, agent);
    await session.send('go');
    await plan.struck;
    const { runtime: second, recoveries } = await recoverLater(database(), [agent]);
    return { keys, agent, recoveries, session: await second.session(session) };
  }

  for (const effect of ['idempotent', 'readOnly'] as const) {
    test(`C02 C03 ${effect}: a call that was started without a result runs again with the same key`, async () => {
      const { keys, session, recoveries } = await dieAround('afterEffect', effect);
      expect(recoveries).toEqual([{ tenantId: 'tenant', sessionId: session.sessionId, state: 'IDLE' }]);
      expect(keys).toHaveLength(2);
      expect(new Set(keys).size).toBe(1);
      expect((await session.history()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
      const types = (await session.transitions()).map(({ type, token }) => [type, token]);
      expect(types).toEqual([
        ['user.messaged', 1],
        ['model.calledTools', 1],
        ['worker.tookOver', 2],
        ['execution.started', 2],
        ['tool.settled', 2],
        ['model.replied', 2],
      ]);
    });
  }

  test('C02 nonRepeatable: a call that was started without a result waits for a person and is not repeated', async () => {
    const { keys, session, recoveries } = await dieAround('afterEffect', 'nonRepeatable');
    expect(recoveries).toMatchObject([{ state: 'AWAITING_INPUT' }]);
    expect(keys).toHaveLength(1);
    const { awaiting } = await session.status();
    expect(awaiting).toMatchObject([{ toolName: 'charge', reason: 'unknown', idempotencyKey: keys[0] }]);
    const run = await session.settle(awaiting[0]!.executionId, { outcome: 'succeeded', output: 'seen', by: 'ann' });
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(keys).toHaveLength(1);
    expect((await session.history())[2]).toMatchObject({ role: 'tool', content: 'seen' });
  });

  test('C04 nonRepeatable: also when the process died before the act, since nothing says so', async () => {
    const { keys, session } = await dieAround('beforeEffect', 'nonRepeatable');
    expect(keys).toHaveLength(0);
    const { awaiting } = await session.status();
    const run = await session.settle(awaiting[0]!.executionId, { outcome: 'runAgain', by: 'ann' });
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(keys).toEqual([awaiting[0]!.idempotencyKey]);
  });

  test('C05 recovery in the process that still owns the session leaves it alone', async () => {
    const { opened, open } = gate();
    let count = 0;
    const slow = looseTool('slow', async () => {
      count += 1;
      await opened;
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('slow')] }, 'done'), [slow]);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const run = await session.send('go');
    expect(await runtime.recover()).toEqual([]);
    expect(await (await openRuntime(database(), [agent])).recover()).toEqual([]);
    open();
    await run.result();
    expect(count).toBe(1);
    expect((await session.transitions()).map(({ type }) => type)).not.toContain('worker.tookOver');
  });

  test('resume: the run of a dead process goes on and shows itself; at rest it is the run that ended; before a message there is none', async () => {
    const charge = looseTool('charge', () => 'charged', { effect: 'idempotent' });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge]);
    const faults = [
      {
        point: 'afterEffect',
        fault: 'crash',
        where: ({ executionId }: { executionId?: string }) => executionId !== undefined,
      },
    ];
    const { runtime, plan } = await openMortal(database(), [agent], faults as Parameters<typeof openMortal>[2]);
    const { sessionId, tenantId } = await openSession(runtime, agent);
    const begun = await (await runtime.session({ sessionId, tenantId })).send('go');
    await plan.struck;
    await database().moveClock(LONG_MS);
    const second = await openRuntime(database(), [agent]);
    const session = await second.session({ sessionId, tenantId });
    const run = (await session.resume())!;
    const types: string[] = [];
    for await (const event of run) types.push(event.type === 'transition' ? event.event.type : event.kind);
    expect(types).toEqual(['worker.tookOver', 'execution.started', 'tool.settled', 'text', 'model.replied']);
    expect([run.runId, (await run.result()).reply]).toEqual([begun.runId, 'done']);
    const again = (await session.resume())!;
    expect(await again.result()).toEqual(await run.result());
    expect((await session.status()).version).toBe(6);
    expect(await (await openSession(second, agent)).resume()).toBeNull();
  });

  test('C19 of two recoveries at once one takes each session, and every act happens once', async () => {
    const keys: string[] = [];
    const act = looseTool('act', (_, { idempotencyKey }) => keys.push(idempotencyKey));
    const agent = scriptedAgent(eachRun({ toolCalls: [call('act')] }, 'done'), [act]);
    const { runtime, plan } = await openMortal(
      database(),
      [agent],
      [{ point: 'beforeBegin', occurrence: 25, fault: 'crash' }],
    );
    const sessions = await Promise.all(Array.from({ length: 6 }, () => openSession(runtime, agent)));
    for (const session of sessions) void session.send('go').catch(() => undefined);
    await plan.struck;
    await database().moveClock(LONG_MS);
    const sweepers = [await openRuntime(database(), [agent]), await openRuntime(database(), [agent])];
    const taken = (await Promise.all(sweepers.map((sweeper) => sweeper.recover()))).flat();
    expect(taken.filter(({ state }) => state !== undefined).every(({ state }) => state === 'IDLE')).toBe(true);
    for (const { sessionId } of sessions) {
      const session = await sweepers[0]!.session({ tenantId: 'tenant', sessionId });
      expect((await session.status()).state).toBe('IDLE');
      const takeovers = (await session.transitions()).filter(({ type }) => type === 'worker.tookOver');
      expect(takeovers.length).toBeLessThanOrEqual(1);
    }
    expect(new Set(keys).size).toBe(
      (
        await database().query(`SELECT FROM turnlock.agent_tool_executions WHERE session_id = ANY ($1)`, [
          sessions.map(({ sessionId }) => sessionId),
        ])
      ).length,
    );
  });

  test('a back-off survives its process: the next one waits for the rest of it', async () => {
    let asked = 0;
    const agent = scriptedAgent(() => {
      asked += 1;
      if (asked === 1) throw new Error('overloaded');
      return 'done';
    });
    const limits = { modelBackoffMs: 60_000, leaseMs: 15_000 };
    const { runtime, plan } = await openMortal(database(), [agent], [], limits);
    const session = await openSession(runtime, agent);
    for await (const event of await session.send('go')) {
      if (event.type === 'transition' && event.event.type === 'model.attemptFailed') break;
    }
    void plan.crash();
    await database().moveClock(15_000);
    const clock = new ManualClock();
    const second = await openRuntime(database(), [agent], { limits, environment: clock });
    const recovering = second.recover();
    await waitFor(() => clock.sleepsMs.some((ms) => ms > 10_000), { for: 'the next process to wait' });
    expect(asked).toBe(1);
    await database().moveClock(90_000);
    clock.advance(90_000);
    expect(await recovering).toMatchObject([{ state: 'IDLE' }]);
    expect(asked).toBe(2);
    const attempts = await database().query(
      'SELECT attempt, error_message FROM turnlock.agent_model_calls WHERE session_id = $1 ORDER BY started_at, attempt',
      [session.sessionId],
    );
    expect(attempts).toEqual([
      { attempt: 1, error_message: 'overloaded' },
      { attempt: 2, error_message: null },
    ]);
  });

  test('C13 a session that kills its worker each time, with a little progress in between, ends in FAILED', async () => {
    let asked = 0;
    const note = looseTool('note', () => 'noted');
    const agent = scriptedAgent(() => {
      asked += 1;
      return { toolCalls: [call('note', { asked })] };
    }, [note]);
    const limits = { maxRecoveries: 3 };
    // Each process gets as far as one call and its result, and dies before it asks the model again.
    const ofModel = ({ detail }: { detail?: string }) => detail === 'model';
    const dies = [{ point: 'beforeEffect', occurrence: 2, fault: 'crash', where: ofModel }] as const;
    const { runtime, plan } = await openMortal(database(), [agent], dies, limits);
    const session = await openSession(runtime, agent);
    await session.send('go');
    await plan.struck;
    const states: unknown[] = [];
    const versions: number[] = [];
    for (let count = 1; count <= 3; count += 1) {
      await database().moveClock(LONG_MS);
      const next = await openMortal(database(), [agent], dies, limits);
      void next.runtime.recover().catch(() => undefined);
      await next.plan.struck;
      const [row] = await database().query(
        'SELECT current_state, recoveries, version FROM turnlock.agent_sessions WHERE session_id = $1',
        [session.sessionId],
      );
      states.push([row.current_state, row.recoveries]);
      versions.push(row.version);
    }
    expect(states.map((state) => (state as [string, number])[1])).toEqual([1, 2, 3]);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(new Set(versions).size).toBe(3);
    const { runtime: last, recoveries } = await recoverLater(database(), [agent], limits);
    expect(recoveries).toMatchObject([{ state: 'FAILED' }]);
    const failed = await last.session(session);
    expect((await failed.transitions()).at(-1)).toMatchObject({
      type: 'limit.met',
      to: 'FAILED',
      event: { code: 'LIMIT_RECOVERIES' },
    });
    const before = asked;
    const done = scriptedAgent('done', [note], agent.name);
    const repaired = await (await openRuntime(database(), [done], { limits })).session(session);
    const retry = await repaired.retry({ by: 'ann' });
    expect(await retry.result()).toMatchObject({ state: 'IDLE', reply: 'done', error: null });
    expect(asked).toBe(before);
    const [{ recoveries: counted }] = await database().query(
      'SELECT recoveries FROM turnlock.agent_sessions WHERE session_id = $1',
      [session.sessionId],
    );
    expect(counted).toBe(0);
  });
};
