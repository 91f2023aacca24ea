import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ModelTurn } from '../../adapters/models/model.contract.ts';
import type { ToolEffect } from '../../index.ts';
import { openMortal, recoverLater } from '../support/runtime-crash.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';

/** Order, completeness and truth of what the model is shown. */
export const describeHistory: RuntimeSuite = (database) => {
  test('C08 the last result, the tool turns and the next state are one commit; a sibling that was earlier keeps its result', async () => {
    const counts = { first: 0, second: 0 };
    const first = looseTool('first', () => ++counts.first);
    const second = looseTool('second', () => ++counts.second);
    // One after the other, so that each result is a commit of its own.
    const limits = { maxParallelTools: 1 };
    const agent = scriptedAgent(eachRun({ toolCalls: [call('first'), call('second')] }, 'done'), [first, second]);
    // user.messaged, model.calledTools, settled, started, settled: the process dies before the fifth COMMIT.
    const { runtime, plan } = await openMortal(
      database(),
      [agent],
      [{ point: 'beforeCommit', fault: 'crash', where: () => counts.second === 1 }],
      limits,
    );
    const session = await openSession(runtime, agent);
    await session.send('go');
    await plan.struck;
    const reader = await (await openRuntime(database(), [agent])).session(session);
    expect((await reader.history()).map(({ role }) => role)).toEqual(['user', 'assistant']);
    const rows = await database().query(
      'SELECT tool_name, status, output_payload FROM turnlock.agent_tool_executions WHERE session_id = $1 ORDER BY ordinal',
      [session.sessionId],
    );
    expect(rows).toEqual([
      { tool_name: 'first', status: 'SUCCESS', output_payload: 1 },
      { tool_name: 'second', status: 'RUNNING', output_payload: null },
    ]);
    const { recoveries } = await recoverLater(database(), [agent], limits);
    expect(recoveries).toMatchObject([{ state: 'IDLE' }]);
    expect(counts).toEqual({ first: 1, second: 2 });
    const history = await reader.history();
    expect(history.map(({ content }) => content)).toEqual(['go', '', '1', '2', 'done']);
    const [turns] = await database().query(
      `SELECT payload -> 'turns' AS turns FROM turnlock.agent_transitions t JOIN turnlock.agent_transition_payloads p USING (session_id, sequence)
        WHERE session_id = $1 AND event = 'tool.settled' ORDER BY sequence DESC LIMIT 1`,
      [session.sessionId],
    );
    expect(turns).toEqual({ turns: [2, 3] });
  });

  test('C14 C20 a worker that comes back after its lease may not commit, and nothing starts after it was settled', async () => {
    let count = 0;
    const act = looseTool('act', () => ++count);
    const agent = scriptedAgent(eachRun({ toolCalls: [call('act')] }, 'done'), [act]);
    const ofTool = ({ executionId }: { executionId?: string }) => executionId !== undefined;
    const { runtime, plan } = await openMortal(
      database(),
      [agent],
      [{ point: 'afterEffect', fault: 'stall', where: ofTool }],
    );
    const session = await openSession(runtime, agent);
    const run = await session.send('go');
    await plan.struck;
    const { runtime: second, recoveries } = await recoverLater(database(), [agent]);
    expect(recoveries).toMatchObject([{ state: 'IDLE' }]);
    const seen = await second.session(session);
    const before = [await seen.transitions(), await seen.history()];
    plan.resume();
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    await runtime.close();
    expect([await seen.transitions(), await seen.history()]).toEqual(before);
    expect(before[1]!.map(({ content }: { content?: string }) => content)).toEqual(['go', '', '2', 'done']);
    expect(count).toBe(2);
  });

  test.each<[ToolEffect, string]>([
    ['idempotent', 'succeeded'],
    ['nonRepeatable', 'unknown'],
  ])(
    'C28 a death in the middle of parallel calls (%s), then a message: every call is answered before it',
    async (effect, outcome) => {
      const shown: ModelTurn[][] = [];
      const act = looseTool('act', ({ n }) => n, { effect });
      const toolCalls = [1, 2, 3].map((n) => call('act', { n }));
      const script = eachRun({ toolCalls }, 'done');
      const agent = scriptedAgent(
        (request) => {
          shown.push(request.turns);
          return request.turns.filter(({ role }) => role === 'user').length > 1 ? 'second' : script(request);
        },
        [act],
      );
      const ofTool = ({ executionId }: { executionId?: string }) => executionId !== undefined;
      const { runtime, plan } = await openMortal(
        database(),
        [agent],
        [{ point: 'afterEffect', occurrence: 2, fault: 'crash', where: ofTool }],
      );
      const session = await openSession(runtime, agent);
      await session.send('go');
      await plan.struck;
      await database().moveClock(LONG_MS);
      const next = await (await openRuntime(database(), [agent])).session(session);
      const answered = await next.send('and now?', { messageId: 'm2' });
      if ((await answered.result()).queued) {
        expect(effect).toBe('nonRepeatable');
        await next.cancel({ by: 'ann' });
      }
      expect(await (await next.send('and now?', { messageId: 'm2' })).result()).toMatchObject({
        state: 'IDLE',
        reply: 'second',
      });
      const turns = shown.at(-1)!;
      const roles = turns.map(({ role }) => role);
      expect(roles.slice(0, 5)).toEqual(['user', 'assistant', 'tool', 'tool', 'tool']);
      expect(roles.at(-1)).toBe('user');
      const answers = turns.flatMap((turn) => (turn.answers ? [turn.answers] : []));
      expect(answers.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2]);
      expect(new Set(answers.map((answer) => answer.outcome))).toContain(outcome);
      for (const answer of answers) expect(answer.outcome).not.toBe('failed');
    },
  );

  test('C29 a tool turn without its call, or a call answered twice, cannot be written, and a resume writes none twice', async () => {
    const act = looseTool('act', () => 'x');
    const agent = scriptedAgent(eachRun({ toolCalls: [call('act', { n: 1 }), call('act', { n: 2 })] }, 'done'), [act]);
    const { runtime, plan } = await openMortal(
      database(),
      [agent],
      [{ point: 'commitSent', occurrence: 6, fault: 'crash' }],
    );
    const session = await openSession(runtime, agent);
    await session.send('go');
    await plan.struck;
    const { runtime: second } = await recoverLater(database(), [agent]);
    const history = await (await second.session(session)).history();
    const answers = history.filter(({ role }) => role === 'tool');
    expect(answers.map(({ callOrdinal }) => callOrdinal)).toEqual([0, 1]);
    const insert = (over: { executionId?: string; callTurnId?: string; ordinal?: number }) =>
      database().query(
        `INSERT INTO turnlock.agent_turns (turn_id, tenant_id, session_id, turn_index, role, content, parts, execution_id, call_turn_id, call_ordinal)
          VALUES ($1, 'tenant', $2, $3, 'tool', 'x', '[]', $4, $5, $6)`,
        [
          randomUUID(),
          session.sessionId,
          history.length,
          over.executionId ?? answers[0]!.executionId,
          over.callTurnId ?? answers[0]!.callTurnId,
          over.ordinal ?? 9,
        ],
      );
    await expect(insert({ executionId: randomUUID() })).rejects.toMatchObject({ code: '23503' });
    await expect(insert({ callTurnId: randomUUID() })).rejects.toMatchObject({ code: '23503' });
    await expect(insert({ ordinal: 1 })).rejects.toMatchObject({ code: '23505' });
  });

  test('C33 turns are ordered by index, also in one millisecond and when the clock goes back', async () => {
    const act = looseTool('act', ({ n }) => n);
    const toolCalls = [1, 2, 3].map((n) => call('act', { n }));
    const shown: number[][] = [];
    const agent = scriptedAgent(
      (request) => {
        shown.push(request.turns.map(({ turnIndex }) => turnIndex));
        return eachRun({ toolCalls }, 'done')(request);
      },
      [act],
    );
    const session = await openSession(
      await openRuntime(database(), [agent], { limits: { maxParallelTools: 1 } }),
      agent,
    );
    await (await session.send('one')).result();
    await database().moveClock(-LONG_MS);
    await (await session.send('two')).result();
    const history = await session.history();
    expect(history.map(({ turnIndex }) => turnIndex)).toEqual(history.map((_, index) => index));
    expect(history.map(({ role }) => role)).toEqual(
      Array(2).fill(['user', 'assistant', 'tool', 'tool', 'tool', 'assistant']).flat(),
    );
    expect(new Set(history.slice(2, 5).map(({ createdAt }) => createdAt.getTime())).size).toBe(1);
    expect(history[6]!.createdAt.getTime()).toBeLessThan(history[0]!.createdAt.getTime());
    for (const indices of shown) expect(indices).toEqual(indices.map((_, index) => index));
  });
};
