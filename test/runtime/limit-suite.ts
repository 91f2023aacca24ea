import { expect, test } from 'vitest';
import { TurnlockError } from '../../index.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';

/** Bounds that are met, work that fails for good, and how a session goes on afterwards. */
export const describeLimits: RuntimeSuite = (database) => {
  test('a run that never comes to an end fails after its model calls, and says so', async () => {
    let asked = 0;
    const note = looseTool('note', () => 'noted');
    const agent = scriptedAgent(() => ({ toolCalls: [call('note', { asked: ++asked })] }), [note]);
    const runtime = await openRuntime(database(), [agent], { limits: { maxModelCallsPerRun: 3 } });
    const session = await openSession(runtime, agent);
    const result = await (await session.send('go')).result();
    expect(result).toMatchObject({ state: 'FAILED', reply: null, error: { code: 'LIMIT_MODEL_CALLS' } });
    expect(asked).toBe(3);
    expect((await session.history()).map(({ role }) => role)).toEqual([
      'user',
      ...Array(3).fill(['assistant', 'tool']).flat(),
    ]);
    await expect(session.send('more')).rejects.toMatchObject({ code: 'EVENT_ILLEGAL' });
  });

  test('more calls in one answer than allowed fail the run, and none of them starts', async () => {
    let starts = 0;
    const note = looseTool('note', () => ++starts);
    const toolCalls = [1, 2, 3].map((n) => call('note', { n }));
    const agent = scriptedAgent(eachRun({ toolCalls }), [note]);
    const runtime = await openRuntime(database(), [agent], { limits: { maxToolCallsPerTurn: 2 } });
    const session = await openSession(runtime, agent);
    expect(await (await session.send('go')).result()).toMatchObject({
      state: 'FAILED',
      error: { code: 'LIMIT_TOOL_CALLS' },
    });
    expect(starts).toBe(0);
    expect((await session.history()).map(({ role }) => role)).toEqual(['user']);
    const [recorded] = await database().query(
      'SELECT finish_reason FROM turnlock.agent_model_calls WHERE session_id = $1',
      [session.sessionId],
    );
    expect(recorded).toEqual({ finish_reason: 'tool-calls' });
  });

  test('a schema whose validation never ends fails the run in time', async () => {
    const endless = {
      ...looseTool('endless', () => 'never'),
      inputSchema: {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: () => new Promise(() => undefined),
          jsonSchema: { input: () => ({}), output: () => ({}) },
        },
      },
    } as unknown as ReturnType<typeof looseTool>;
    const agent = scriptedAgent(eachRun({ toolCalls: [call('endless')] }), [endless]);
    const runtime = await openRuntime(database(), [agent], { limits: { modelTimeoutMs: 50 } });
    const session = await openSession(runtime, agent);
    expect(await (await session.send('go')).result()).toMatchObject({
      state: 'FAILED',
      error: { code: 'MODEL_FAILED', message: expect.stringContaining('not validated in time') },
    });
  });

  test('a list of sessions is asked for within its bounds', async () => {
    const agent = scriptedAgent(eachRun('hello'));
    const runtime = await openRuntime(database(), [agent]);
    for (const limit of [0, -1, 1.5, Number.NaN, 1001]) {
      await expect(runtime.sessions({ tenantId: 'tenant', limit })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    }
    const state = { $ne: 'x' } as never;
    await expect(runtime.sessions({ tenantId: 'tenant', state })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    const metadata = 'text' as never;
    const session = { agent: agent.name, tenantId: 'tenant', userId: 'user', metadata };
    await expect(runtime.createSession(session)).rejects.toMatchObject({ code: 'VALUE_INVALID' });
  });

  test('a model that fails is asked again as often as allowed; each attempt is recorded, then the run fails', async () => {
    let asked = 0;
    const agent = scriptedAgent(() => {
      throw new Error(`overloaded ${++asked}`);
    });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({
      state: 'FAILED',
      error: { code: 'MODEL_FAILED', message: 'overloaded 3' },
    });
    const attempts = await database().query(
      'SELECT attempt, error_code, error_message, model_id, agent_version FROM turnlock.agent_model_calls WHERE session_id = $1 ORDER BY attempt',
      [session.sessionId],
    );
    expect(attempts).toEqual(
      [1, 2, 3].map((attempt) => ({
        attempt,
        error_code: 'MODEL_FAILED',
        error_message: `overloaded ${attempt}`,
        model_id: 'scripted',
        agent_version: 1,
      })),
    );
    expect((await session.transitions()).map(({ type }) => type)).toEqual([
      'user.messaged',
      'model.attemptFailed',
      'model.attemptFailed',
      'model.failed',
    ]);
  });

  test('a model error that no further attempt can help fails the run at once', async () => {
    let asked = 0;
    const agent = scriptedAgent(() => {
      asked += 1;
      throw new TurnlockError('MODEL_FAILED', { message: 'key is wrong', retryable: false });
    });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({
      state: 'FAILED',
      error: { code: 'MODEL_FAILED' },
    });
    expect(asked).toBe(1);
  });

  test('a limit that is met after a failed attempt is told as the limit, not as the failure', async () => {
    let asked = 0;
    const note = looseTool('note', () => 'noted');
    const agent = scriptedAgent(() => {
      if (++asked === 1) throw new Error('overloaded');
      return { toolCalls: [call('note', { asked })] };
    }, [note]);
    const runtime = await openRuntime(database(), [agent], { limits: { maxModelCallsPerRun: 2 } });
    const session = await openSession(runtime, agent);
    const { error } = await (await session.send('go')).result();
    expect(error?.code).toBe('LIMIT_MODEL_CALLS');
    expect(error?.message).not.toMatch(/overloaded/);
  });

  test('retry of a FAILED session is a new run on the same history, and old results keep their reason', async () => {
    let works = false;
    const note = looseTool('note', () => 'noted');
    const agent = scriptedAgent(
      (request) =>
        works ? 'done' : eachRun({ toolCalls: [call('note')] }, { toolCalls: [call('note', { n: 2 })] })(request),
      [note],
    );
    const runtime = await openRuntime(database(), [agent], { limits: { maxModelCallsPerRun: 1 } });
    const session = await openSession(runtime, agent);
    const failed = await session.send('go', { messageId: 'm1' });
    expect(await failed.result()).toMatchObject({ state: 'FAILED', error: { code: 'LIMIT_MODEL_CALLS' } });
    works = true;
    const retry = await session.retry({ by: 'ann' });
    expect(retry.runId).not.toBe(failed.runId);
    expect(await retry.result()).toMatchObject({ state: 'IDLE', reply: 'done', error: null });
    expect((await session.history()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    const again = await session.send('go', { messageId: 'm1' });
    expect(await again.result()).toMatchObject({ state: 'FAILED', error: { code: 'LIMIT_MODEL_CALLS' } });
    await session.complete({ by: 'ann' });
    expect((await session.status()).state).toBe('COMPLETED');
  });

  test('completing a session changes nothing about how its runs ended', async () => {
    const agent = scriptedAgent(() => {
      throw new TurnlockError('MODEL_FAILED', { message: 'key is wrong', retryable: false });
    });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const failed = await (await session.send('go', { messageId: 'm1' })).result();
    await session.complete({ by: 'ann' });
    const again = await session.send('go', { messageId: 'm1' });
    expect(await again.result()).toEqual(failed);
    await expect(session.send('go', { messageId: 'm2' })).rejects.toMatchObject({ code: 'SESSION_COMPLETED' });
  });

  test('what is too large is refused before anything is written', async () => {
    const agent = scriptedAgent('done');
    const limits = { maxMessageBytes: 10, maxMetadataBytes: 20 };
    const runtime = await openRuntime(database(), [agent], { limits });
    const tooLarge = { code: 'VALUE_TOO_LARGE', category: 'limit' };
    await expect(openSession(runtime, agent, { metadata: { a: 'x'.repeat(20) } })).rejects.toMatchObject(tooLarge);
    const session = await openSession(runtime, agent);
    await expect(session.send('x'.repeat(11))).rejects.toMatchObject(tooLarge);
    await expect(session.send('x', { metadata: { a: 'x'.repeat(20) } })).rejects.toMatchObject(tooLarge);
    await expect(session.send('x', { messageId: 'm'.repeat(256) })).rejects.toMatchObject(tooLarge);
    expect(await session.status()).toMatchObject({ state: 'IDLE', version: 0 });
    expect(await (await session.send('x'.repeat(10))).result()).toMatchObject({ state: 'IDLE' });
  });

  test('C26 a result over the bound is stored as what it was, the same each time, and the call is not repeated', async () => {
    let count = 0;
    const big = looseTool('big', () => {
      count += 1;
      return { text: 'x'.repeat(1_000) };
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('big')] }, 'done'), [big]);
    const runtime = await openRuntime(database(), [agent], { limits: { maxOutputBytes: 100 } });
    const outputs: unknown[] = [];
    for (let run = 1; run <= 2; run += 1) {
      const session = await openSession(runtime, agent);
      expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
      const [row] = await database().query(
        'SELECT status, attempt, output_payload FROM turnlock.agent_tool_executions WHERE session_id = $1',
        [session.sessionId],
      );
      expect(row).toMatchObject({ status: 'SUCCESS', attempt: 1 });
      outputs.push(row.output_payload);
      expect((await session.history())[2]).toMatchObject({ parts: [{ outcome: 'succeeded' }] });
    }
    expect(outputs[0]).toMatchObject({
      notStored: true,
      reason: 'VALUE_TOO_LARGE',
      sizeBytes: 1_011,
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(outputs[1]).toEqual(outputs[0]);
    expect(count).toBe(2);
  });

  test('C26 params over the bound are answered at once, and the tool is not called', async () => {
    let count = 0;
    const tool = looseTool('tool', () => ++count);
    const agent = scriptedAgent(eachRun({ toolCalls: [call('tool', { text: 'x'.repeat(200) })] }, 'done'), [tool]);
    const session = await openSession(
      await openRuntime(database(), [agent], { limits: { maxParamsBytes: 100 } }),
      agent,
    );
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(count).toBe(0);
    const [row] = await database().query(
      'SELECT status, error_code, error_message FROM turnlock.agent_tool_executions WHERE session_id = $1',
      [session.sessionId],
    );
    expect(row).toMatchObject({ status: 'FAILED', error_code: 'PARAMS_INVALID' });
    expect(row.error_message).toMatch(/100/);
  });

  test('C26 a reply over the bound fails the run for good, without another attempt', async () => {
    let asked = 0;
    const agent = scriptedAgent(() => {
      asked += 1;
      return 'x'.repeat(200);
    });
    const session = await openSession(
      await openRuntime(database(), [agent], { limits: { maxReplyBytes: 100 } }),
      agent,
    );
    expect(await (await session.send('go')).result()).toMatchObject({
      state: 'FAILED',
      error: { code: 'VALUE_TOO_LARGE' },
    });
    expect(asked).toBe(1);
    expect((await session.history()).map(({ role }) => role)).toEqual(['user']);
  });

  test('C26 an error message over the bound is cut, and says so', async () => {
    const bad = looseTool('bad', () => {
      throw new Error('x'.repeat(2_000));
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('bad')] }, 'done'), [bad]);
    const session = await openSession(
      await openRuntime(database(), [agent], { limits: { maxErrorBytes: 300 } }),
      agent,
    );
    await (await session.send('go')).result();
    const [row] = await database().query(
      'SELECT error_message FROM turnlock.agent_tool_executions WHERE session_id = $1',
      [session.sessionId],
    );
    expect(Buffer.byteLength(row.error_message)).toBeLessThanOrEqual(300);
    expect(row.error_message).toMatch(/^x{100,}.*2000|bytes|cut/);
  });

  test('a model that does not answer in time is a failed attempt, and the next one counts', async () => {
    const signals: AbortSignal[] = [];
    const agent = scriptedAgent(({ attempt }, { signal }) => {
      signals.push(signal);
      return attempt === 1 ? new Promise<string>(() => undefined) : 'done';
    });
    const session = await openSession(
      await openRuntime(database(), [agent], { limits: { modelTimeoutMs: 200 } }),
      agent,
    );
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    const [first] = await database().query(
      'SELECT error_message FROM turnlock.agent_model_calls WHERE session_id = $1 AND attempt = 1 ORDER BY started_at',
      [session.sessionId],
    );
    expect(first.error_message).toMatch(/did not answer in time/);
  });
};
