import { expect, test } from 'vitest';
import { isTurnlockError } from '../../index.ts';
import { openMortal, recoverLater } from '../support/runtime-crash.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../support/runtime-script.ts';

/** Runs that are ended from outside: cancelled, or handed over by a runtime that closes. */
export const describeEndings: RuntimeSuite = (database) => {
  test('cancel while a tool runs: its signal aborts, its outcome is told as unknown, and the next message works', async () => {
    const { opened: started, open: start } = gate<AbortSignal>();
    const slow = looseTool('slow', (_, { signal }) => {
      start(signal);
      return new Promise(() => undefined);
    });
    const queued = looseTool('queued', () => 'never');
    const agent = scriptedAgent(eachRun({ toolCalls: [call('slow'), call('queued')] }, 'done'), [slow, queued]);
    const runtime = await openRuntime(database(), [agent], { limits: { maxParallelTools: 1 } });
    const session = await openSession(runtime, agent);
    const run = await session.send('go');
    const signal = await started;
    await session.cancel({ by: 'ann', reason: 'Wrong order.' });
    expect(signal.aborted).toBe(true);
    expect(isTurnlockError(signal.reason, 'RUN_CANCELLED')).toBe(true);
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: null, error: { code: 'RUN_CANCELLED' } });
    const rows = await database().query(
      'SELECT tool_name, status, error_code, error_message, settled_by FROM turnlock.agent_tool_executions WHERE session_id = $1 ORDER BY ordinal',
      [session.sessionId],
    );
    const cancelled = { error_code: 'RUN_CANCELLED', error_message: 'Wrong order.', settled_by: 'ann' };
    expect(rows).toEqual([
      { tool_name: 'slow', status: 'TIMED_OUT', ...cancelled },
      { tool_name: 'queued', status: 'FAILED', ...cancelled },
    ]);
    const answers = (await session.history()).filter(({ role }) => role === 'tool');
    expect(answers.map(({ parts }) => (parts[0] as { outcome: string }).outcome)).toEqual(['unknown', 'failed']);
    const next = scriptedAgent('next', [], agent.name);
    const elsewhere = await (await openRuntime(database(), [next])).session(session);
    expect(await (await elsewhere.send('again')).result()).toMatchObject({ state: 'IDLE', reply: 'next' });
  });

  test('cancel while the model is asked: its signal aborts, and what it answers then does not count', async () => {
    const { opened: asked, open: ask } = gate<AbortSignal>();
    const { opened: answered, open: answer } = gate();
    const agent = scriptedAgent(async (_, { signal }) => {
      ask(signal);
      await answered;
      return 'too late';
    });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const run = await session.send('go');
    const signal = await asked;
    await session.cancel();
    expect(signal.aborted).toBe(true);
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: null, error: { code: 'RUN_CANCELLED' } });
    answer();
    expect((await session.history()).map(({ role }) => role)).toEqual(['user']);
    expect((await session.status()).version).toBe(2);
  });

  test('cancel from another process: the holder may commit nothing more, and stops at its next heartbeat', async () => {
    const { opened: started, open: start } = gate<AbortSignal>();
    const slow = looseTool(
      'slow',
      (_, { signal }) => {
        start(signal);
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped')));
      },
      { timeoutMs: 3_600_000 },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('slow')] }, 'done'), [slow]);
    const limits = { leaseMs: 3_000, heartbeatMs: 50 };
    const session = await openSession(await openRuntime(database(), [agent], { limits }), agent);
    const run = await session.send('go');
    const signal = await started;
    const elsewhere = await (await openRuntime(database(), [agent])).session(session);
    await elsewhere.cancel({ by: 'ann' });
    expect(await run.result()).toMatchObject({ state: 'IDLE', error: { code: 'RUN_CANCELLED' } });
    expect(signal.aborted).toBe(true);
    // The token rises, so that a receiver that can fence refuses what the cancelled tool still sends.
    const first = (await session.transitions()).slice(0, 3);
    expect(first.map(({ type, token }) => [type, token])).toEqual([
      ['user.messaged', 1],
      ['model.calledTools', 1],
      ['run.cancelled', 2],
    ]);
  });

  test('C23 cancel while a person is asked closes what was asked, and the next message works', async () => {
    const charge = looseTool('charge', () => 'charged', { effect: 'nonRepeatable' });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge]);
    const { runtime, plan } = await openMortal(
      database(),
      [agent],
      [{ point: 'insideEffect', fault: 'crash', where: ({ executionId }) => executionId !== undefined }],
    );
    const session = await openSession(runtime, agent);
    await session.send('go');
    await plan.struck;
    const { runtime: second, recoveries } = await recoverLater(database(), [agent]);
    expect(recoveries).toMatchObject([{ state: 'AWAITING_INPUT' }]);
    const asked = await second.session(session);
    const { awaiting, runId } = await asked.status();
    await asked.cancel({ by: 'ann' });
    expect(await asked.status()).toMatchObject({ state: 'IDLE', awaiting: [] });
    const last = (await asked.transitions()).at(-1)!;
    expect(last).toMatchObject({ type: 'run.cancelled', from: 'AWAITING_INPUT', to: 'IDLE', runId });
    const again = asked.settle(awaiting[0]!.executionId, { outcome: 'runAgain', by: 'bob' });
    await expect(again).rejects.toMatchObject({ code: 'EXECUTION_SETTLED', message: expect.stringContaining('ann') });
    const [row] = await database().query('SELECT status FROM turnlock.agent_tool_executions WHERE session_id = $1', [
      session.sessionId,
    ]);
    expect(row.status).toBe('TIMED_OUT');
    expect(await (await asked.send('again')).result()).toMatchObject({
      state: expect.stringMatching('IDLE|AWAITING_INPUT'),
    });
    expect(await second.recover()).toEqual([]);
  });

  test('cancel without a run changes nothing', async () => {
    const agent = scriptedAgent('done');
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await session.cancel();
    expect((await session.status()).version).toBe(0);
  });

  test('close() while a tool runs: its result is committed, and another runtime goes on at once', async () => {
    const { opened: started, open: start } = gate();
    const { opened, open } = gate();
    let count = 0;
    const slow = looseTool('slow', async () => {
      count += 1;
      start();
      await opened;
      return 'finished';
    });
    let asked = 0;
    const agent = scriptedAgent(
      (request) => {
        asked += 1;
        return eachRun({ toolCalls: [call('slow')] }, 'done')(request);
      },
      [slow],
    );
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const run = await session.send('go');
    await started;
    const closing = runtime.close();
    await expect(session.send('more')).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' });
    open();
    await closing;
    await expect(run.result()).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' });
    const [row] = await database().query(
      'SELECT current_state, lease_holder, lease_expires_at FROM turnlock.agent_sessions WHERE session_id = $1',
      [session.sessionId],
    );
    expect(row).toEqual({ current_state: 'PLANNING', lease_holder: null, lease_expires_at: null });
    expect(asked).toBe(1);
    const second = await openRuntime(database(), [agent]);
    expect(await second.recover()).toMatchObject([{ sessionId: session.sessionId, state: 'IDLE' }]);
    expect([count, asked]).toEqual([1, 2]);
    const found = await second.session(session);
    expect((await found.history()).map(({ content }) => content)).toEqual(['go', '', 'finished', 'done']);
    const [{ recoveries }] = await database().query(
      'SELECT recoveries FROM turnlock.agent_sessions WHERE session_id = $1',
      [session.sessionId],
    );
    expect(recoveries).toBe(0);
  });

  test('close() while the model is asked stops the asking, and another runtime asks again', async () => {
    const { opened: asked, open: ask } = gate<AbortSignal>();
    const slow = scriptedAgent((_, { signal }) => {
      ask(signal);
      return new Promise<string>(() => undefined);
    });
    const runtime = await openRuntime(database(), [slow]);
    const session = await openSession(runtime, slow);
    const run = await session.send('go');
    const signal = await asked;
    await Promise.all([runtime.close(), runtime.close()]);
    expect(signal.aborted).toBe(true);
    await expect(run.result()).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' });
    const quick = scriptedAgent('done', [], slow.name);
    const second = await openRuntime(database(), [quick]);
    expect(await second.recover()).toMatchObject([{ state: 'IDLE' }]);
  });

  test('everything of a closed runtime says that it is closed', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await runtime.close();
    const closed = { code: 'RUNTIME_CLOSED' };
    for (const action of [
      () => runtime.createSession({ agent: agent.name, tenantId: 't', userId: 'u' }),
      () => runtime.session(session),
      () => runtime.recover(),
      () => runtime.sessions({ tenantId: 't' }),
      () => session.send('x'),
      () => session.retry(),
      () => session.cancel(),
      () => session.complete(),
      () => session.status(),
      () => session.history(),
      () => session.transitions(),
    ]) {
      await expect(action(), action.toString()).rejects.toMatchObject(closed);
    }
  });
};
