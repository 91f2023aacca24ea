import { expect, test } from 'vitest';
import { type ToolEffect, ToolError } from '../../../index.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';

/** Tools that come back and say that they do not know whether they acted. */
onPostgres((database) => {
  /** A call that answers at its attempt `answersAt`, and does not know at those before. */
  async function callOf(effect: ToolEffect, answersAt: number) {
    const keys: string[] = [];
    const send = looseTool(
      'send',
      (_, { attempt, idempotencyKey }) => {
        keys.push(idempotencyKey);
        if (attempt >= answersAt) return 'sent';
        throw new ToolError('no answer came back', { outcome: 'unknown' });
      },
      // Nobody waits for the deadline or the grace period: they would not end within the test.
      { effect, timeoutMs: LONG_MS },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('send')] }, 'done'), [send]);
    const runtime = await openRuntime(database(), [agent], { limits: { graceMs: LONG_MS } });
    const session = await openSession(runtime, agent);
    return { keys, session, result: await (await session.send('go')).result() };
  }

  test.each<ToolEffect>(['readOnly', 'idempotent'])(
    '%s: a tool that does not know whether it acted is called again at once, with the same key',
    async (effect) => {
      const { keys, session, result } = await callOf(effect, 3);
      expect(result).toMatchObject({ state: 'IDLE', reply: 'done' });
      expect(keys).toHaveLength(3);
      expect(new Set(keys).size).toBe(1);
      expect((await session.history())[2]).toMatchObject({ content: 'sent', parts: [{ outcome: 'succeeded' }] });
    },
  );

  test('idempotent: one that never knows is told as unknown after a bounded number of attempts', async () => {
    const { keys, session, result } = await callOf('idempotent', Number.POSITIVE_INFINITY);
    expect(result).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(keys).toHaveLength(3);
    expect((await session.history())[2]).toMatchObject({ parts: [{ outcome: 'unknown' }] });
  });

  test('C06 nonRepeatable: a tool that does not know whether it acted is no failure; a person is asked at once', async () => {
    const { keys, session, result } = await callOf('nonRepeatable', 2);
    expect(result).toMatchObject({ state: 'AWAITING_INPUT', awaiting: [{ toolName: 'send', reason: 'unknown' }] });
    const [row] = await database().query(
      'SELECT status, unknown_reason, error_code, error_message FROM turnlock.agent_tool_executions WHERE session_id = $1',
      [session.sessionId],
    );
    expect(row).toEqual({
      status: 'RUNNING',
      unknown_reason: 'reported',
      error_code: 'TOOL_OUTCOME_UNKNOWN',
      error_message: 'no answer came back',
    });
    const run = await session.settle(result.awaiting[0]!.executionId, { outcome: 'runAgain', by: 'ann' });
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });
});
