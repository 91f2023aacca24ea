import { expect, test } from 'vitest';
import type { OnRepeat } from '../../../adapters/tools/tool.contract.ts';
import { type Policy, requireApproval, type Session, type ToolEffect } from '../../../index.ts';
import { FaultPlan } from '../../../testing/faults/fault-plan.ts';
import { openMortal } from '../../support/runtime-crash.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';

interface Scene {
  /** For each answer of the run, the orders that are refunded. */
  answers: number[][];
  onRepeat?: OnRepeat;
  policy?: Policy;
  effect?: ToolEffect;
  fails?: (act: number) => boolean;
}

onPostgres((database) => {
  /** An agent that refunds, and what was done. */
  function refundAgent({ answers, fails = () => false, effect = 'nonRepeatable', ...more }: Scene) {
    const acts: unknown[] = [];
    const keys = new Set<string>();
    const refund = looseTool(
      'refund',
      ({ order }, { idempotencyKey }) => {
        acts.push(order);
        keys.add(idempotencyKey);
        if (fails(acts.length)) throw new Error('the bank is closed');
        return { refunded: order };
      },
      { effect, ...more },
    );
    const asks = answers.map((orders) => ({ toolCalls: orders.map((order) => call('refund', { order })) }));
    return { agent: scriptedAgent(eachRun(...asks, 'done'), [refund]), acts, keys };
  }

  async function begin(scene: Scene, more = {}) {
    const made = refundAgent(scene);
    const runtime = await openRuntime(database(), [made.agent], more);
    const session = await openSession(runtime, made.agent);
    return { ...made, runtime, session, first: await (await session.send('refund')).result() };
  }

  const toolTexts = async (session: Session) =>
    (await session.history()).filter(({ role }) => role === 'tool').map(({ content }) => content);

  test('C03 a call that has succeeded in this run waits for a person when it is asked for again, and runs with a key of its own once approved', async () => {
    const { first, runtime, session, acts, keys } = await begin({ answers: [[1], [1]] });
    expect(first).toMatchObject({ state: 'AWAITING_INPUT', awaiting: [{ toolName: 'refund', reason: 'approval' }] });
    expect(acts).toEqual([1]);
    const [waiting] = await runtime.awaiting({ tenantId: 'tenant', sessionId: session.sessionId });
    expect(waiting!.question).toMatch(/^The same call has succeeded before in this run \(execution [0-9a-f-]{36}\)/);
    const run = await session.approve(waiting!.executionId, { by: 'ada' });
    expect(await run.result()).toMatchObject({ state: 'IDLE' });
    expect(acts).toEqual([1, 1]);
    expect(keys.size).toBe(2);
  });

  test('C03 a repeat that a person refuses does not run', async () => {
    const { first, session, acts } = await begin({ answers: [[1], [1]] });
    await (await session.deny(first.awaiting[0]!.executionId, { by: 'ada', reason: 'Once is enough' })).result();
    expect(acts).toEqual([1]);
    expect((await toolTexts(session)).at(-1)).toBe('The call failed: Once is enough');
  });

  test('C03 answer: a repeat is answered with the recorded result, as what it is, however often', async () => {
    const { first, session, acts } = await begin({ answers: [[1], [1], [1]], onRepeat: 'answer' });
    expect(first).toMatchObject({ state: 'IDLE' });
    expect(acts).toEqual([1]);
    const again = 'Not run again: the same call has succeeded before. Its result: {"refunded":1}';
    expect(await toolTexts(session)).toEqual(['{"refunded":1}', again, again]);
    const rows = await database().query(
      `SELECT status, attempt, answered_by, output_payload FROM turnlock.agent_tool_executions e
         JOIN turnlock.agent_turns t USING (turn_id) WHERE e.session_id = $1 ORDER BY turn_index`,
      [session.sessionId],
    );
    const { executionId } = (await session.history())[2]!;
    const answered = { status: 'SUCCESS', attempt: 0, answered_by: executionId, output_payload: { refunded: 1 } };
    expect(rows.slice(1)).toEqual([answered, answered]);
  });

  test('C03 run: a repeat runs', async () => {
    const { acts, keys } = await begin({ answers: [[1], [1]], onRepeat: 'run' });
    expect(acts).toEqual([1, 1]);
    expect(keys.size).toBe(2);
  });

  test('C03 other params, a call after a settled failure, and another run are decisions of their own', async () => {
    const other = await begin({ answers: [[1], [2]] });
    expect([other.first.state, other.acts]).toEqual(['IDLE', [1, 2]]);
    const failed = await begin({ answers: [[1], [1]], fails: (act) => act === 1 });
    expect([failed.first.state, failed.acts]).toEqual(['IDLE', [1, 1]]);
    const { session, acts } = await begin({ answers: [[1]] });
    expect(await (await session.send('refund')).result()).toMatchObject({ state: 'IDLE' });
    expect(acts).toEqual([1, 1]);
  });

  test('a repeat of which the policy wants approval too is one question, which says both, and one approval lets it run', async () => {
    const policy: Policy = () => requireApproval({ question: 'Much money?', approvers: { users: ['ada'] } });
    const { session, runtime, acts } = await begin({ answers: [[1], [1]], policy });
    const approve = async (by: string) => {
      const [waiting] = await runtime.awaiting({ tenantId: 'tenant', sessionId: session.sessionId });
      const run = await session.approve(waiting!.executionId, { by });
      return { question: waiting!.question, result: await run.result() };
    };
    expect((await approve('ada')).question).toBe('Much money?');
    await expect(approve('bob')).rejects.toMatchObject({ code: 'APPROVER_NOT_ALLOWED' });
    const { question, result } = await approve('ada');
    expect(question).toMatch(/^Much money\?\nThe same call has succeeded before/);
    expect(result.state).toBe('IDLE');
    expect(acts).toEqual([1, 1]);
  });

  test('beside a repeat that waits for a person nothing starts; afterwards both run', async () => {
    const { first, session, acts } = await begin({ answers: [[1], [1, 2]] });
    expect(first.awaiting).toHaveLength(1);
    expect(acts).toEqual([1]);
    await (await session.approve(first.awaiting[0]!.executionId, { by: 'ada' })).result();
    expect(acts).toEqual([1, 1, 2]);
  });

  test.each<[OnRepeat, string]>([
    ['ask', 'AWAITING_INPUT'],
    ['answer', 'IDLE'],
  ])('C03 %s: a call whose outcome is unknown is not repeated when its run is retried', async (onRepeat, state) => {
    const made = refundAgent({ answers: [[1], [1]], onRepeat });
    const dies = [
      { point: 'afterEffect', fault: 'crash', where: ({ executionId = '' }) => executionId !== '' },
    ] as const;
    const { runtime, plan } = await openMortal(database(), [made.agent], dies);
    const { sessionId, tenantId } = await openSession(runtime, made.agent);
    await (await runtime.session({ sessionId, tenantId })).send('refund');
    await plan.struck;
    await database().moveClock(LONG_MS);
    // The bound of recoveries is met at once: the run fails while its call is out.
    const second = await openRuntime(database(), [made.agent], { limits: { maxRecoveries: 0 } });
    await second.recover();
    const session = await second.session({ sessionId, tenantId });
    expect((await session.status()).state).toBe('FAILED');
    const result = await (await session.retry()).result();
    expect([result.state, made.acts]).toEqual([state, [1]]);
    const said =
      onRepeat === 'answer'
        ? (await toolTexts(session)).at(-1)
        : (await second.awaiting({ tenantId, sessionId }))[0]!.question;
    expect(said).toContain('The outcome of the same call earlier in this run is unknown: it may have taken effect');
    if (onRepeat === 'answer') expect(said).toMatch(/^The call was not run: .*It was not repeated\.$/);
  });

  test.each<[OnRepeat, string]>([
    ['ask', 'AWAITING_INPUT'],
    ['answer', 'IDLE'],
  ])(
    'C03 %s: a call whose outcome is unknown is not repeated by the next run, until a person says how it ended',
    async (onRepeat, state) => {
      const acts: unknown[] = [];
      const refund = looseTool(
        'refund',
        (_, { signal }) => {
          acts.push('refund');
          if (acts.length > 1) return 'done';
          return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        },
        { effect: 'nonRepeatable', onRepeat },
      );
      const agent = scriptedAgent(eachRun({ toolCalls: [call('refund', { order: 1 })] }, 'done'), [refund]);
      const runtime = await openRuntime(database(), [agent]);
      const session = await openSession(runtime, agent);
      await session.send('refund');
      await waitFor(() => acts.length === 1, { for: 'the tool to be at work' });
      const second = await (await session.send('hurry up', { whenBusy: 'interrupt' })).result();
      expect([second.state, acts.length]).toEqual([state, 1]);
      const said =
        onRepeat === 'answer'
          ? (await toolTexts(session)).at(-1)
          : (await runtime.awaiting({ tenantId: 'tenant', sessionId: session.sessionId }))[0]!.question;
      expect(said).toContain(
        'The outcome of the same call earlier in this session is unknown: it may have taken effect',
      );
      // Once it is known, nothing is in the way of the next one.
      if (onRepeat === 'ask') await session.deny(second.awaiting[0]!.executionId, { by: 'ada', reason: 'look first' });
      const [{ execution_id: executionId }] = (await database().query(
        `SELECT execution_id FROM turnlock.agent_tool_executions WHERE session_id = $1 AND status = 'TIMED_OUT'`,
        [session.sessionId],
      )) as [{ execution_id: string }];
      await waitFor(async () => (await session.status()).state === 'IDLE', { for: 'the run to end' });
      await session.settle(executionId, { outcome: 'failed', reason: 'not booked', by: 'ada' });
      expect(await (await session.send('now')).result()).toMatchObject({ state: 'IDLE' });
      expect(acts).toHaveLength(2);
    },
  );

  test('a tool whose repeat does no harm costs no statement for it, and one that guards its repeats costs one', async () => {
    const counts: number[] = [];
    for (const effect of ['idempotent', 'nonRepeatable'] as const) {
      const environment = new FaultPlan();
      await begin({ answers: [[1], [2]], effect }, { environment });
      counts.push(environment.passages.filter(({ statement = '' }) => statement.includes('e.params_digest')).length);
    }
    expect(counts).toEqual([0, 2]);
  });
});
