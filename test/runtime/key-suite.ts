import { expect, test } from 'vitest';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';

/** Which calls are one call, and which are not. */
export const describeKeys: RuntimeSuite = (database) => {
  /** The keys under which these params ran, all asked for in one answer, and how each call was answered. */
  async function runTogether(inputs: readonly unknown[], more: { repeatable?: boolean } = {}) {
    const keys: string[] = [];
    const act = looseTool(
      'act',
      (params, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        return params;
      },
      more,
    );
    const agent = scriptedAgent(eachRun({ toolCalls: inputs.map((input) => call('act', input)) }, 'done'), [act]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE' });
    const answers = (await session.history()).filter(({ role }) => role === 'tool');
    return { keys, answers, session };
  }

  test.each<[string, unknown, unknown]>([
    ['the order of keys', { a: 1, b: { c: 1, d: [2] } }, { b: { d: [2], c: 1 }, a: 1 }],
    ['numbers as JSON reads them', { a: 1, b: 0, c: 100 }, { a: 1.0, b: -0, c: 1e2 }],
    ['a property that is undefined', { a: 1 }, { a: 1, b: undefined }],
  ])('C40 %s makes no difference: one execution, two answers', async (_, one, two) => {
    const { keys, answers } = await runTogether([one, two]);
    expect(keys).toHaveLength(1);
    expect(answers.map(({ callOrdinal }) => callOrdinal)).toEqual([0, 1]);
    expect(new Set(answers.map(({ executionId }) => executionId)).size).toBe(1);
    expect(answers[0]!.content).toBe(answers[1]!.content);
  });

  test.each<[string, unknown, unknown]>([
    ['a number and its text', { a: 1 }, { a: '1' }],
    ['null and absent', { a: null }, {}],
    ['the order of an array', { a: [1, 2] }, { a: [2, 1] }],
    ['an empty array and an empty object', { a: [] }, { a: {} }],
    ['where a name ends', { ab: 'c' }, { a: 'bc' }],
  ])('C40 C42 %s make two calls', async (_, one, two) => {
    const { keys, answers } = await runTogether([one, two]);
    expect(new Set(keys).size).toBe(2);
    expect(answers.map(({ content }) => JSON.parse(content))).toEqual([one, two]);
  });

  test('C42 the same call three times in one answer runs once, and three times where it is repeatable', async () => {
    const once = await runTogether([{ n: 1 }, { n: 1 }, { n: 1 }]);
    expect(once.keys).toHaveLength(1);
    expect(once.answers).toHaveLength(3);
    const thrice = await runTogether([{ n: 1 }, { n: 1 }, { n: 1 }], { repeatable: true });
    expect(new Set(thrice.keys).size).toBe(3);
    expect(new Set(thrice.answers.map(({ executionId }) => executionId)).size).toBe(3);
  });

  test('C44 a composed and a decomposed é are different params', async () => {
    const { keys, answers } = await runTogether([{ name: '\u00e9' }, { name: 'e\u0301' }]);
    expect(new Set(keys).size).toBe(2);
    expect(answers.map(({ content }) => JSON.parse(content).name)).toEqual(['\u00e9', 'e\u0301']);
  });

  test('C41 sessions, turns and tools never share a key, whatever their names hold', async () => {
    const keys: string[] = [];
    const names = ['a', 'a_1', 'a-1', '1', '11'];
    const tools = names.map((name) => looseTool(name, (_, { idempotencyKey }) => keys.push(idempotencyKey)));
    const agent = scriptedAgent(eachRun({ toolCalls: names.map((name) => call(name, { x: 1 })) }, 'done'), tools);
    const runtime = await openRuntime(database(), [agent]);
    for (let count = 0; count < 2; count += 1) {
      const session = await openSession(runtime, agent);
      for (let run = 0; run < 2; run += 1) await (await session.send('go')).result();
    }
    expect(keys).toHaveLength(20);
    expect(new Set(keys).size).toBe(20);
  });

  test('C43 a poll with equal params in two turns of one run runs twice, without a stale answer', async () => {
    let status = 0;
    const keys: string[] = [];
    const poll = looseTool(
      'poll',
      (_, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        return ['running', 'finished'][status++];
      },
      { effect: 'readOnly' },
    );
    const asks = { toolCalls: [call('poll', { job: 7 })] };
    const agent = scriptedAgent(eachRun(asks, asks, 'done'), [poll]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await (await session.send('go')).result();
    const answers = (await session.history()).filter(({ role }) => role === 'tool');
    expect(answers.map(({ content }) => content)).toEqual(['running', 'finished']);
    expect(new Set(keys).size).toBe(2);
  });

  test('C03 a call that is asked for again after it failed for good is a new decision with a key of its own', async () => {
    const keys: string[] = [];
    const flaky = looseTool(
      'flaky',
      (_, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        if (keys.length === 1) throw new Error('no');
        return 'yes';
      },
      { effect: 'nonRepeatable' },
    );
    const asks = { toolCalls: [call('flaky', { n: 1 })] };
    const agent = scriptedAgent(eachRun(asks, asks, 'done'), [flaky]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await (await session.send('go')).result();
    expect(new Set(keys).size).toBe(2);
    const answers = (await session.history()).filter(({ role }) => role === 'tool');
    expect(answers.map(({ content }) => content)).toEqual(['The call failed: no', 'yes']);
  });

  test('C32 provider call ids that repeat, are empty or absent never skip an execution', async () => {
    let count = 0;
    const act = looseTool('act', () => ++count);
    const ids = ['call_1', 'call_1', '', undefined];
    const toolCalls = ids.map((id, n) => call('act', { n }, id === undefined ? {} : { providerCallId: id }));
    const agent = scriptedAgent(eachRun({ toolCalls }, { toolCalls }, 'done'), [act]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE' });
    expect(count).toBe(8);
    const rows = await database().query(
      'SELECT provider_call_id FROM turnlock.agent_tool_executions e JOIN turnlock.agent_turns t USING (turn_id) WHERE e.session_id = $1 ORDER BY turn_index, ordinal',
      [session.sessionId],
    );
    expect(rows.map(({ provider_call_id }) => provider_call_id ?? undefined)).toEqual([...ids, ...ids]);
  });
};
