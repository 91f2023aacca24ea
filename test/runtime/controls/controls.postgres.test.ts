import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { allow, defineTool, type Policy, requireApproval } from '../../../index.ts';
import { FaultPlan } from '../../../testing/faults/fault-plan.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call } from '../../support/runtime-script.ts';

interface Scene {
  policy?: Policy;
  effect?: 'readOnly' | 'nonRepeatable';
  cost?: (params: { n: number; cents: number }) => number;
  usage?: { [name: string]: number };
  limits?: object;
  environment?: FaultPlan;
}

onPostgres((database) => {
  // At noon no day ends during a test.
  beforeAll(() => database().moveClock(new Date().setUTCHours(12, 0, 0, 0) - Date.now()));

  /** A tenant of its own whose sessions pay what a message names: `1 2=500` are two payments, the second one of 500 cents. */
  async function begin({ policy = () => allow(), effect = 'nonRepeatable', cost, usage = {}, ...more }: Scene = {}) {
    const acts: number[] = [];
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: z.object({ n: z.int(), cents: z.int() }),
      effect,
      policy,
      ...(cost && { cost }),
      execute: ({ n }) => {
        acts.push(n);
        return 'paid';
      },
    });
    const agent = scriptedAgent(
      ({ turns }) => {
        const last = turns.at(-1)!;
        if (last.role !== 'user') return 'done';
        const calls = last.text.split(' ').map((word) => word.split('=').map(Number));
        return { toolCalls: calls.map(([n, cents = 100]) => call('pay', { n, cents })), usage };
      },
      [pay],
    );
    const runtime = await openRuntime(database(), [agent], more);
    const tenantId = `tenant-${agent.name}`;
    const session = await openSession(runtime, agent, { tenantId });
    const send = async (text: string, to = session) => (await to.send(text)).result();
    const questions = async () => (await runtime.awaiting({ tenantId })).map(({ question }) => question);
    const approve = async (by = 'ada') => {
      let state = '';
      for (const { executionId, sessionId } of await runtime.awaiting({ tenantId })) {
        const opened = await runtime.session({ tenantId, sessionId });
        state = (await (await opened.approve(executionId, { by })).result()).state;
      }
      return state;
    };
    const another = () => openSession(runtime, agent, { tenantId });
    return { acts, runtime, tenantId, session, send, questions, approve, another };
  }

  const put = async (...values: unknown[]): Promise<string> => {
    const names = values.map((_, place) => `$${place + 1}`);
    const [row] = await database().query(`SELECT turnlock.put_control(${names.join(', ')}) AS id`, values);
    return row.id;
  };

  test('what is frozen waits for a person, who is told why, and whose approval lets it run all the same', async () => {
    const { tenantId, send, acts, questions, approve } = await begin();
    await put('freeze', tenantId, 'pay', null, null, 'the bank is down');
    expect((await send('1 2')).state).toBe('AWAITING_INPUT');
    expect(acts).toEqual([]);
    const frozen = 'The tool pay is frozen: the bank is down.';
    expect(await questions()).toEqual([frozen, frozen]);
    expect(await approve()).toBe('IDLE');
    expect(acts).toEqual([1, 2]);
  });

  test('a freeze holds reading tools too, those of its tenant and its tool only, and nothing once it is dropped', async () => {
    const { tenantId, send, acts } = await begin({ effect: 'readOnly' });
    await put('freeze', tenantId, 'another_tool');
    await put('freeze', `${tenantId}-2`, null);
    expect((await send('1')).state).toBe('IDLE');
    const everything = await put('freeze', null, null, null, null, 'maintenance');
    const { state, awaiting } = await send('2');
    await database().query('SELECT turnlock.drop_control($1)', [everything]);
    expect([state, awaiting.length, acts]).toEqual(['AWAITING_INPUT', 1, [1]]);
    const other = await begin();
    expect((await other.send('3')).state).toBe('IDLE');
  });

  test('a freeze that comes while a person is asked: the approval that did not know of it does not let the call start', async () => {
    const approvers = { users: ['ada'] };
    const policy: Policy = () => requireApproval({ question: 'Much money?', approvers });
    const { tenantId, send, acts, questions, approve } = await begin({ policy });
    await send('1');
    await put('freeze', tenantId, 'pay');
    expect(await approve()).toBe('AWAITING_INPUT');
    expect(acts).toEqual([]);
    expect(await questions()).toEqual(['Much money?\nThe tool pay is frozen.']);
    await expect(approve('bob')).rejects.toMatchObject({ code: 'APPROVER_NOT_ALLOWED' });
    expect(await approve()).toBe('IDLE');
    expect(acts).toEqual([1]);
  });

  test('one question says all: what the policy asks, and that the tool is frozen', async () => {
    const { tenantId, send, acts, questions, approve } = await begin({
      policy: () => requireApproval({ question: 'Pay?' }),
    });
    await put('freeze', tenantId, 'pay');
    await send('1');
    expect(await questions()).toEqual(['Pay?\nThe tool pay is frozen.']);
    expect(await approve()).toBe('IDLE');
    expect(acts).toEqual([1]);
  });

  test('a call that waited for a slot is held by a freeze that came meanwhile', async () => {
    const frozen = { now: async () => undefined as unknown };
    let judged = 0;
    const policy: Policy = async (_, { isStart }) => {
      if (isStart && judged++ === 0) await frozen.now();
      return allow();
    };
    const { tenantId, send, acts } = await begin({ policy, limits: { maxParallelTools: 1 } });
    frozen.now = () => put('freeze', tenantId, 'pay');
    expect((await send('1 2')).state).toBe('AWAITING_INPUT');
    expect(acts).toEqual([1]);
  });

  test('a budget of calls counts what has begun in every session of the tenant today, and what is beyond it waits', async () => {
    const { tenantId, send, acts, questions, approve, another } = await begin();
    await put('budget', tenantId, 'pay', 'calls', 3);
    await send('1 2');
    const second = await another();
    expect((await send('3 4', second)).awaiting).toHaveLength(1);
    expect(await questions()).toEqual(['The budget of 3 calls of pay a day is used up: 3 today (UTC).']);
    expect(await approve()).toBe('IDLE');
    expect(acts).toEqual([1, 2, 3, 4]);
    await database().moveClock(LONG_MS);
    expect((await send('5 6 7', second)).state).toBe('IDLE');
    expect((await send('8', second)).state).toBe('AWAITING_INPUT');
    await database().moveClock(-LONG_MS);
  });

  test('a budget of money counts what tools say that their calls cost', async () => {
    const { tenantId, send, acts, questions } = await begin({ cost: ({ cents }) => cents * 10_000 });
    await put('budget', tenantId, null, 'microMoney', 10_000_000);
    expect((await send('1=400 2=500')).state).toBe('IDLE');
    expect((await send('3=100')).state).toBe('IDLE');
    expect((await send('4=1')).state).toBe('AWAITING_INPUT');
    expect(await questions()).toEqual([
      'The call costs 0.01, which is over budget: 10.00 of 10.00 are used today (UTC).',
    ]);
    expect(acts).toEqual([1, 2, 3]);
  });

  test.each<[string, () => number]>([
    ['throws', () => JSON.parse('')],
    ['gives half a millionth', () => 0.5],
    ['gives less than nothing', () => -1],
    ['gives a promise', () => Promise.reject(new Error('later')) as never],
  ])('a cost that %s: the call fails, says so, and runs nothing', async (_, cost) => {
    const { send, acts, session } = await begin({ cost });
    expect((await send('1')).state).toBe('IDLE');
    const [row] = await database().query(
      'SELECT error_code, error_message FROM turnlock.agent_tool_executions WHERE session_id = $1',
      [session.sessionId],
    );
    expect(row).toEqual({ error_code: 'COST_FAILED', error_message: expect.stringContaining('nothing was run') });
    expect(acts).toEqual([]);
  });

  test('a budget of tokens counts those of the model, the answer that asks for the call among them', async () => {
    // The second answer of a run says no usage: 10 tokens a run.
    const { tenantId, send, acts, questions } = await begin({ usage: { inputTokens: 6, outputTokens: 4 } });
    await put('budget', tenantId, null, 'tokens', 20);
    expect((await send('1')).state).toBe('IDLE');
    expect((await send('2')).state).toBe('AWAITING_INPUT');
    expect(await questions()).toEqual(['The budget of 20 tokens a day is used up: 20 today (UTC).']);
    expect(acts).toEqual([1]);
  });

  test('without controls nothing is asked for them; with some, one statement for each commit that starts calls', async () => {
    const asks = ({ statement = '' }: { statement?: string }) => statement.startsWith('select c.control_id');
    const environment = new FaultPlan();
    const { tenantId, send } = await begin({ environment, limits: { maxParallelTools: 1 } });
    await send('1 2');
    expect(environment.passages.filter(asks)).toHaveLength(0);
    await put('budget', tenantId, null, 'calls', 100);
    await send('3 4');
    expect(environment.passages.filter(asks)).toHaveLength(2);
  });
});
