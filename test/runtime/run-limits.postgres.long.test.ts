import { expect, test } from 'vitest';
import type { ModelResponse } from '../../adapters/models/model.contract.ts';
import { defineAgent, type RunLimits, requireApproval, type Session, type Tool } from '../../index.ts';

import { openMortal, recoverLater } from '../support/runtime-crash.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';

onPostgres((database) => {
  /** A tool that counts, and an agent that calls it once in each of `answers`, each of which takes 40 tokens. */
  function counting(answers: number, more: Parameters<typeof looseTool>[2] = {}) {
    const seen = { acts: 0 };
    const note = looseTool('note', () => ++seen.acts, more);
    const usage = { inputTokens: 30, outputTokens: 10 };
    const asking = Array.from(
      { length: answers },
      (_, n): ModelResponse => ({ toolCalls: [call('note', { n })], usage }),
    );
    return { seen, agent: scriptedAgent(eachRun(...asking, { text: 'done', usage: { totalTokens: 1_000 } }), [note]) };
  }

  const calls = (session: Session) =>
    database().query(
      'SELECT (token_usage_json->>$2)::int AS tokens FROM turnlock.agent_model_calls WHERE session_id = $1 ORDER BY started_at',
      [session.sessionId, 'inputTokens'],
    );

  test('tokens: the answer that uses them up starts no call, its tokens are recorded, and a retry has its own', async () => {
    const { seen, agent } = counting(4);
    const runtime = await openRuntime(database(), [agent], { limits: { maxTokensPerRun: 120 } });
    const session = await openSession(runtime, agent);
    const result = await (await session.send('go')).result();
    expect(result).toMatchObject({ state: 'FAILED', error: { code: 'LIMIT_TOKENS' } });
    expect(seen.acts).toBe(2);
    expect(await calls(session)).toEqual([{ tokens: 30 }, { tokens: 30 }, { tokens: 30 }]);
    expect((await session.history()).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ]);
    expect((await session.transitions()).at(-1)).toMatchObject({ type: 'limit.met', event: { code: 'LIMIT_TOKENS' } });
    // Two answers are in the history, two more are asked for, and then the reply.
    expect(await (await session.retry({ by: 'ann' })).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(seen.acts).toBe(4);
  });

  test('a reply may be longer than what is left, and the next run counts anew', async () => {
    const { seen, agent } = counting(1);
    const runtime = await openRuntime(database(), [agent], { limits: { maxTokensPerRun: 50 } });
    const session = await openSession(runtime, agent);
    for (const acts of [1, 2]) {
      expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
      expect(seen.acts).toBe(acts);
    }
  });

  test('tool calls of a run: all that were asked for count, over waits for a person and the death of a process', async () => {
    const { seen, agent } = counting(4, {
      policy: (params) => ((params as { n: number }).n === 1 ? requireApproval() : { type: 'allow' }),
    });
    const limits = { maxToolCallsPerRun: 3 };
    const isSecond = { point: 'beforeBegin', where: () => seen.acts === 2, fault: 'crash' } as const;
    const { runtime, plan } = await openMortal(database(), [agent], [isSecond], limits);
    const session = await openSession(runtime, agent);
    const { awaiting } = await (await session.send('go')).result();
    await session.approve(awaiting[0]!.executionId, { by: 'ann' });
    await plan.struck;
    const { runtime: next, recoveries } = await recoverLater(database(), [agent], limits);
    expect(recoveries).toMatchObject([{ state: 'FAILED' }]);
    const failed = await next.session(session);
    expect((await failed.transitions()).at(-1)).toMatchObject({ event: { code: 'LIMIT_RUN_TOOL_CALLS' } });
    const asked = (await failed.history()).filter(({ role }) => role === 'assistant');
    expect(asked).toHaveLength(3);
  });

  test('what cannot run counts too, and of an answer that asks for too much nothing starts', async () => {
    let acts = 0;
    const note = looseTool('note', () => ++acts);
    const two = { toolCalls: [call('ghost'), call('note', { n: 1 })] };
    const agent = scriptedAgent(eachRun(two, { toolCalls: [call('note', { n: 2 }), call('note', { n: 2 })] }), [note]);
    const runtime = await openRuntime(database(), [agent], { limits: { maxToolCallsPerRun: 3 } });
    const result = await (await (await openSession(runtime, agent)).send('go')).result();
    expect(result).toMatchObject({ state: 'FAILED', error: { code: 'LIMIT_RUN_TOOL_CALLS' } });
    expect(acts).toBe(1);
  });

  test.each<[Partial<RunLimits>, string]>([
    [{ maxModelCallsPerRun: 1 }, 'LIMIT_MODEL_CALLS'],
    [{ maxTokensPerRun: 40 }, 'LIMIT_TOKENS'],
    [{ maxToolCallsPerRun: 1 }, 'LIMIT_RUN_TOOL_CALLS'],
  ])('the limits of an agent hold for its runs alone: %j', async (limits, code) => {
    const { agent } = counting(2);
    const { model, instructions, tools } = agent;
    const strict = defineAgent({
      name: `${agent.name}-2`,
      model,
      instructions,
      limits,
      tools: [...tools.values()] as Tool[],
    });
    const runtime = await openRuntime(database(), [agent, strict]);
    expect(await (await (await openSession(runtime, agent)).send('go')).result()).toMatchObject({ state: 'IDLE' });
    const failed = await (await (await openSession(runtime, strict)).send('go')).result();
    expect(failed).toMatchObject({ state: 'FAILED', error: { code } });
  });

  test('a call that is at work when a limit ends its run is TIMED_OUT, and the model is told that nobody knows', async () => {
    const { agent } = counting(1, { effect: 'nonRepeatable' });
    const dies = {
      point: 'afterEffect',
      where: ({ executionId }: { executionId?: string }) => executionId !== undefined,
    };
    const { runtime, plan } = await openMortal(
      database(),
      [agent],
      [{ ...dies, point: 'afterEffect', fault: 'crash' }],
    );
    const session = await openSession(runtime, agent);
    await session.send('go');
    await plan.struck;
    const { runtime: next, recoveries } = await recoverLater(database(), [agent], { maxRecoveries: 0 });
    expect(recoveries).toMatchObject([{ state: 'FAILED' }]);
    const failed = await next.session(session);
    expect((await failed.history()).at(-1)).toMatchObject({ role: 'tool', parts: [{ outcome: 'unknown' }] });
    const [row] = await database().query('SELECT status FROM turnlock.agent_tool_executions WHERE session_id = $1', [
      session.sessionId,
    ]);
    expect(row).toEqual({ status: 'TIMED_OUT' });
  });
});
