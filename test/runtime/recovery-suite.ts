import { expect, test } from 'vitest';
import type { ToolEffect } from '../../index.ts';
import { openMortal, recoverLater } from '../support/runtime-crash.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../support/runtime-script.ts';

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

  test('C19 of two recoveries at once one takes each session, and every act happens once', async () => {
    const keys: string[] = [];
    const act = looseTool('act', (_, { idempotencyKey }) => keys.push(idempotencyKey));
    const agent = scriptedAgent(eachRun({ toolCalls: [call('act')] }, 'done'), [act]);
    const { runtime, plan } = await openMortal(
      database(),
      [agent],
      [{ point: 'beforeBegin', occurrence: 40, fault: 'crash' }],
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
};
