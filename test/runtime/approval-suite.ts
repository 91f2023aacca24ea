import { describe, expect, test } from 'vitest';
import { allow, askUser, deny, type Policy, requireApproval, type Session } from '../../index.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun } from '../support/runtime-script.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, refundAgent } from './approval-scene.ts';
import { typesOf, userTexts } from './inbox-scene.ts';

const toolTexts = async (session: Session) =>
  (await session.history()).filter(({ role }) => role === 'tool').map(({ content }) => content);

/** Calls that a policy judges, and people who decide about them. */
export const describeApprovals: RuntimeSuite = (database) => {
  const open = async (agent: Parameters<typeof openSession>[1], more = {}) => {
    const runtime = await openRuntime(database(), [agent], more);
    return { runtime, session: await openSession(runtime, agent) };
  };
  const rounds = (sessionId: string) =>
    database().query(
      `SELECT kind, round, decision, decided_by, consumed_at IS NOT NULL AS used FROM turnlock.agent_approvals
        WHERE session_id = $1 ORDER BY requested_at, round`,
      [sessionId],
    );

  test('a call that needs approval waits, runs once it is granted, and the grant is used up', async () => {
    const { agent, acts } = refundAgent(() => requireApproval({ question: 'Much money?' }), { order: 1 });
    const { runtime, session } = await open(agent);
    const asked = await (await session.send('refund')).result();
    expect(asked).toMatchObject({ state: 'AWAITING_INPUT', awaiting: [{ toolName: 'refund', reason: 'approval' }] });
    expect(acts).toEqual([]);
    const [waiting] = await runtime.awaiting({ tenantId: 'tenant', sessionId: session.sessionId });
    expect(waiting).toMatchObject({ question: 'Much money?', params: { order: 1 }, round: 1, reason: 'approval' });
    const { executionId, digest } = waiting!;
    expect(asked.awaiting[0]).toMatchObject({ executionId, digest });
    const run = await session.approve(executionId, { by: 'ada', digest });
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(acts).toEqual([{ order: 1 }]);
    expect(await rounds(session.sessionId)).toEqual([
      { kind: 'approval', round: 1, decision: 'granted', decided_by: 'ada', used: true },
    ]);
    expect(await runtime.awaiting({ tenantId: 'tenant', sessionId: session.sessionId })).toEqual([]);
  });

  test('a refusal runs nothing and tells the model why', async () => {
    const { agent, acts, shown } = refundAgent(ask, { order: 1 });
    const { session } = await open(agent);
    const { awaiting } = await (await session.send('refund')).result();
    const run = await session.deny(awaiting[0]!.executionId, { by: 'ada', reason: 'Too late' });
    expect(await run.result()).toMatchObject({ state: 'IDLE' });
    expect(acts).toEqual([]);
    expect(shown.at(-1)!.at(-1)).toBe('tool: The call failed: Too late');
    expect(await rounds(session.sessionId)).toMatchObject([{ decision: 'denied', used: false }]);
  });

  test('C47 an approval is decided once: the same again is nothing new, another is a conflict that says who was first', async () => {
    const { agent, acts } = refundAgent(ask, { order: 1 });
    const { runtime, session } = await open(agent);
    const { awaiting } = await (await session.send('refund')).result();
    const { executionId } = awaiting[0]!;
    const old = await runtime.session(session);
    await (await session.approve(executionId, { by: 'ada' })).result();
    await (await session.approve(executionId, { by: 'ada' })).result();
    await expect(old.approve(executionId, { by: 'bob' })).rejects.toMatchObject({
      code: 'APPROVAL_DECIDED',
      details: { decision: 'granted', decidedBy: 'ada' },
    });
    await expect(old.deny(executionId, { by: 'ada', reason: 'no' })).rejects.toMatchObject({
      code: 'APPROVAL_DECIDED',
    });
    expect(acts).toEqual([{ order: 1 }]);
  });

  test('C48 params that the approver changed: row, digest, key, tool and model have them, and who changed them', async () => {
    const { agent, acts, keys, shown } = refundAgent(ask, { cents: 900 });
    const { session } = await open(agent);
    const { awaiting } = await (await session.send('refund')).result();
    const [{ executionId, digest, idempotencyKey } = awaiting[0]!] = awaiting;
    await (await session.approve(executionId, { by: 'ada', digest, params: { cents: 100 } })).result();
    expect(acts).toEqual([{ cents: 100 }]);
    const [row] = await database().query(
      'SELECT input_parameters, params_digest, idempotency_key, metadata FROM turnlock.agent_tool_executions WHERE execution_id = $1',
      [executionId],
    );
    expect(row).toMatchObject({ input_parameters: { cents: 100 }, metadata: { amendedBy: 'ada' } });
    expect(row.params_digest).not.toBe(digest);
    expect(keys).toEqual([row.idempotency_key]);
    expect(keys).not.toEqual([idempotencyKey]);
    expect(shown.at(-1)!.at(-1)).toBe('tool: A person changed the params of this call to {"cents":100}. {"done":true}');
    expect(await typesOf(session)).toContain('approval.amended');
  });

  test('params that were not those that the person saw, and params that another call of the turn has, are refused', async () => {
    const { agent, acts } = refundAgent(ask, { cents: 1 }, { cents: 2 });
    const { session } = await open(agent);
    const { awaiting } = await (await session.send('refund')).result();
    const [first, second] = awaiting.map(({ executionId }) => executionId);
    const stale = session.approve(first!, { by: 'ada', digest: awaiting[1]!.digest });
    await expect(stale).rejects.toMatchObject({ code: 'APPROVAL_STALE' });
    const twin = session.approve(first!, { by: 'ada', params: { cents: 2 } });
    await expect(twin).rejects.toMatchObject({ code: 'KEY_CONFLICT' });
    await expect(session.approve(first!, { by: 'ada', params: 'none' })).rejects.toMatchObject({
      code: 'PARAMS_INVALID',
    });
    expect(acts).toEqual([]);
    await session.approve(first!, { by: 'ada' });
    await (await session.approve(second!, { by: 'ada' })).result();
    expect(acts).toEqual([{ cents: 1 }, { cents: 2 }]);
  });

  test('C46 three calls wait for three people, who answer in any order: nothing runs before the last one, each answer reaches its call', async () => {
    const { agent, acts } = refundAgent(ask, { order: 1 }, { order: 2 }, { order: 3 });
    const { session } = await open(agent);
    const { awaiting } = await (await session.send('refund')).result();
    const [one, two, three] = awaiting.map(({ executionId }) => executionId);
    expect((await (await session.approve(three!, { by: 'cleo' })).result()).awaiting).toHaveLength(2);
    await session.deny(one!, { by: 'ada', reason: 'no' });
    expect(acts).toEqual([]);
    await (await session.approve(two!, { by: 'bob' })).result();
    expect(acts).toEqual([{ order: 2 }, { order: 3 }]);
    expect(await toolTexts(session)).toEqual(['The call failed: no', '{"done":true}', '{"done":true}']);
  });

  test('C23 cancel while an approval is open closes approval and call in that commit, and the next message works', async () => {
    const { agent, acts } = refundAgent(ask, { order: 1 });
    const { session } = await open(agent);
    const { awaiting } = await (await session.send('refund')).result();
    await session.cancel({ by: 'user' });
    expect(await rounds(session.sessionId)).toMatchObject([{ decision: 'cancelled' }]);
    const late = session.approve(awaiting[0]!.executionId, { by: 'ada' });
    await expect(late).rejects.toMatchObject({ code: 'APPROVAL_DECIDED' });
    expect((await (await session.send('again')).result()).state).toBe('AWAITING_INPUT');
    expect(acts).toEqual([]);
  });

  test('an approval that was granted and not used is withdrawn when the run is cancelled', async () => {
    const { agent, acts } = refundAgent(ask, { order: 1 }, { order: 2 });
    const { session } = await open(agent);
    const { awaiting } = await (await session.send('refund')).result();
    await session.approve(awaiting[0]!.executionId, { by: 'ada' });
    await session.cancel();
    expect((await rounds(session.sessionId)).map(({ decision, used }) => [decision, used])).toEqual([
      ['cancelled', false],
      ['cancelled', false],
    ]);
    expect(acts).toEqual([]);
  });

  describe('time', () => {
    test('nobody decides in time: the call is not done, the model is told, and a later decision is refused', async () => {
      const { agent, acts, shown } = refundAgent(() => requireApproval({ expiresInMs: 60_000 }), { order: 1 });
      const { runtime, session } = await open(agent);
      const { awaiting } = await (await session.send('refund')).result();
      const [waiting] = await runtime.awaiting({ tenantId: 'tenant', sessionId: session.sessionId });
      expect(waiting!.expiresAt!.getTime() - waiting!.requestedAt.getTime()).toBe(60_000);
      await database().moveClock(LONG_MS);
      await runtime.recover();
      expect((await session.status()).state).toBe('IDLE');
      expect(acts).toEqual([]);
      expect(shown.at(-1)!.at(-1)).toBe('tool: The call failed: Nobody decided in time. It was not done.');
      const late = session.approve(awaiting[0]!.executionId, { by: 'ada' });
      await expect(late).rejects.toMatchObject({ code: 'APPROVAL_DECIDED', details: { decision: 'expired' } });
    });

    test('where the policy says so an expiry fails the session', async () => {
      const rule = { expiresInMs: 60_000, onExpiry: 'failSession' } as const;
      const { agent } = refundAgent(() => requireApproval(rule), { order: 1 });
      const { runtime, session } = await open(agent);
      await (await session.send('refund')).result();
      await database().moveClock(LONG_MS);
      await runtime.recover();
      expect((await session.status()).state).toBe('FAILED');
    });

    test('a decision after the time is refused, also before anybody noticed, and the session goes on', async () => {
      const { agent, acts } = refundAgent(() => requireApproval({ expiresInMs: 60_000 }), { order: 1 });
      const { session } = await open(agent);
      const run = await session.send('refund');
      const { awaiting } = await run.result();
      await database().moveClock(LONG_MS);
      const late = session.approve(awaiting[0]!.executionId, { by: 'ada' });
      await expect(late).rejects.toMatchObject({ code: 'APPROVAL_EXPIRED' });
      expect(await (await session.resume())!.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
      expect(acts).toEqual([]);
    });

    test('C65 two rounds of asking one after the other in one run both work', async () => {
      const { agent, acts } = refundAgent(() => requireApproval({ expiresInMs: LONG_MS }), { order: 1 });
      const twice = eachRun(
        { toolCalls: [call('refund', { order: 1 })] },
        { toolCalls: [call('refund', { order: 2 })] },
      );
      const both = scriptedAgent(twice, [agent.tools.get('refund')!]);
      const { session } = await open(both);
      for (const order of [1, 2]) {
        const { awaiting } =
          order === 1 ? await (await session.send('go')).result() : await (await session.resume())!.result();
        await (await session.approve(awaiting[0]!.executionId, { by: 'ada' })).result();
      }
      expect(acts).toEqual([{ order: 1 }, { order: 2 }]);
      expect((await session.status()).state).toBe('IDLE');
    });
  });

  describe('policies', () => {
    test('what a policy denies never runs, beside what it allows', async () => {
      const policy: Policy = (params) => ((params as { order: number }).order === 1 ? deny('Not this one') : allow());
      const { agent, acts } = refundAgent(policy, { order: 1 }, { order: 2 });
      const { session } = await open(agent);
      await (await session.send('refund')).result();
      expect(acts).toEqual([{ order: 2 }]);
      expect(await toolTexts(session)).toEqual(['The call failed: Not this one', '{"done":true}']);
    });

    test.each<[string, Policy]>([
      ['throws', () => Promise.reject(new Error('no rules'))],
      ['says nothing', () => undefined as never],
      ['says what is no verdict', () => ({ type: 'perhaps' }) as never],
    ])('a policy that %s refuses the call', async (_, policy) => {
      const { agent, acts } = refundAgent(policy, { order: 1 });
      const { session } = await open(agent);
      expect(await (await session.send('refund')).result()).toMatchObject({ state: 'IDLE' });
      expect(acts).toEqual([]);
      expect((await toolTexts(session))[0]).toContain('Its policy could not be asked');
    });

    test('a policy that never ends refuses the call once its time is over', async () => {
      const { agent, acts } = refundAgent(() => new Promise(() => undefined), { order: 1 });
      const { session } = await open(agent, { limits: { policyTimeoutMs: 20 } });
      expect(await (await session.send('refund')).result()).toMatchObject({ state: 'IDLE' });
      expect(acts).toEqual([]);
    });

    test('the policy of the moment of the start decides: what it denies by then does not run, however it was approved', async () => {
      const isOpen = { now: true };
      const policy: Policy = () => (isOpen.now ? requireApproval() : deny('Closed by now'));
      const { agent, acts } = refundAgent(policy, { order: 1 });
      const { session } = await open(agent);
      const { awaiting } = await (await session.send('refund')).result();
      isOpen.now = false;
      await (await session.approve(awaiting[0]!.executionId, { by: 'ada' })).result();
      expect(acts).toEqual([]);
      expect(await toolTexts(session)).toEqual(['The call failed: Closed by now']);
      expect(await rounds(session.sessionId)).toMatchObject([{ decision: 'cancelled', used: false }]);
    });

    test('a call that waited for a slot is held when the policy of its start wants a person', async () => {
      const policy: Policy = (_, { isStart }) => (isStart ? requireApproval() : allow());
      const { agent, acts } = refundAgent(policy, { order: 1 }, { order: 2 });
      const { session } = await open(agent, { limits: { maxParallelTools: 1 } });
      const { state, awaiting } = await (await session.send('refund')).result();
      expect([state, awaiting.length, acts]).toEqual(['AWAITING_INPUT', 1, [{ order: 1 }]]);
      await (await session.approve(awaiting[0]!.executionId, { by: 'ada' })).result();
      expect(acts).toEqual([{ order: 1 }, { order: 2 }]);
    });

    test('only those may approve whom the policy names', async () => {
      const approvers = { users: ['ada'], roles: ['manager'], notUser: true };
      const { agent } = refundAgent(() => requireApproval({ approvers }), { order: 1 });
      const { session } = await open(agent);
      const { awaiting } = await (await session.send('refund')).result();
      const { executionId } = awaiting[0]!;
      const refused = { code: 'APPROVER_NOT_ALLOWED' };
      await expect(session.approve(executionId, { by: 'bob' })).rejects.toMatchObject(refused);
      await expect(session.approve(executionId, { by: 'user', roles: ['manager'] })).rejects.toMatchObject(refused);
      await expect(session.deny(executionId, { by: 'bob', roles: ['clerk'], reason: 'no' })).rejects.toMatchObject(
        refused,
      );
      const run = await session.approve(executionId, { by: 'bob', roles: ['manager'] });
      expect((await run.result()).state).toBe('IDLE');
    });
  });

  describe('questions and messages', () => {
    const curious = () => {
      const script = eachRun({ toolCalls: [call('askUser', { question: 'Which order?' })] }, 'thanks');
      return scriptedAgent(
        (request) => {
          const answered = request.turns.findLast(({ role }) => role === 'tool');
          return answered === undefined ? script(request) : `thanks for ${answered.text}`;
        },
        [askUser()],
      );
    };

    test('a question of the agent: the next message of the user is the answer, and belongs to the same run', async () => {
      const { runtime, session } = await open(curious());
      const asked = await (await session.send('refund')).result();
      expect(asked).toMatchObject({ state: 'AWAITING_INPUT', awaiting: [{ reason: 'answer' }] });
      expect(await runtime.awaiting({ tenantId: 'tenant', sessionId: session.sessionId })).toMatchObject([
        { reason: 'answer', question: 'Which order?' },
      ]);
      const run = await session.send('order 42', { messageId: 'm-2' });
      expect(run.runId).toBe(asked.runId);
      expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'thanks for order 42' });
      expect((await (await session.send('order 42', { messageId: 'm-2' })).result()).reply).toBe('thanks for order 42');
      expect((await session.history()).map(({ role, content }) => `${role}: ${content}`)).toEqual([
        'user: refund',
        'assistant: ',
        'tool: order 42',
        'assistant: thanks for order 42',
      ]);
    });

    test('the answer may come by SQL, and a person may settle the question', async () => {
      const { runtime, session } = await open(curious());
      await (await session.send('refund')).result();
      await database().query(`SELECT turnlock.enqueue('tenant', $1, 'm-9', 'order 7')`, [session.sessionId]);
      await runtime.recover();
      expect(await toolTexts(session)).toEqual(['order 7']);
      expect((await session.status()).state).toBe('IDLE');
    });

    test('supersede: approvals are refused as superseded, the run goes on, and the message comes next', async () => {
      const { agent, acts } = refundAgent(ask, { order: 1 });
      const script = eachRun({ toolCalls: [call('refund', { order: 1 })] }, 'done');
      const talk = scriptedAgent(
        (request) => (request.turns.some(({ text }) => text === 'never mind') ? 'as you like' : script(request)),
        [agent.tools.get('refund')!],
      );
      const { session } = await open(talk);
      await (await session.send('refund')).result();
      const run = await session.send('never mind', { whenBusy: 'supersede' });
      expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'as you like' });
      expect(acts).toEqual([]);
      expect(await toolTexts(session)).toEqual([
        'The call failed: It was not done: superseded by a message of the user.',
      ]);
      expect(await rounds(session.sessionId)).toMatchObject([{ decision: 'superseded' }]);
    });

    test('with an approval open another message waits for its turn', async () => {
      const { agent } = refundAgent(ask, { order: 1 });
      const { session } = await open(agent);
      const { awaiting } = await (await session.send('refund')).result();
      const queued = await session.send('and then?');
      expect(await queued.result()).toMatchObject({ queued: true, state: 'AWAITING_INPUT' });
      await (await session.deny(awaiting[0]!.executionId, { by: 'ada', reason: 'no' })).result();
      await waitFor(async () => (await userTexts(session)).length === 2, { for: 'the message to have its turn' });
      expect(await userTexts(session)).toEqual(['refund', 'and then?']);
    });
  });
};
