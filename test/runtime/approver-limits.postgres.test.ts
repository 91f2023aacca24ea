import { expect, test } from 'vitest';
import { z } from 'zod';
import type { InputSchema } from '../../adapters/tools/tool.contract.ts';
import {
  type Approvers,
  allow,
  defineTool,
  deny,
  type Policy,
  type Runtime,
  requireApproval,
  type Session,
  ToolError,
  versioned,
} from '../../index.ts';
import { paramsDigest } from '../../persistence/keys/params-digest.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun } from '../support/runtime-script.ts';
import { refundAgent } from './approval-scene.ts';

/** Up to 500 a manager may approve, above only a CFO; nobody more than 10,000. */
const byAmount: Policy = (params) => {
  const { euros } = params as { euros: number };
  if (euros > 10_000) return deny('Never so much');
  return requireApproval({ approvers: { roles: [euros <= 500 ? 'manager' : 'cfo'] } });
};
const manager = { by: 'mia', roles: ['manager'] };
const cfo = { by: 'cleo', roles: ['cfo'] };

onPostgres((database) => {
  async function askedBy(policy: Policy, ...inputs: object[]) {
    const { agent, acts } = refundAgent(policy, ...inputs);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const { awaiting } = await (await session.send('refund')).result();
    return { runtime, session, acts, executionId: awaiting[0]!.executionId, digest: awaiting[0]!.digest };
  }

  const listed = async (runtime: Runtime, { sessionId }: Session) =>
    (await runtime.awaiting({ tenantId: 'tenant', sessionId }))[0]!;

  test('an approver amends within what they may approve, and no further', async () => {
    const { session, acts, executionId } = await askedBy(byAmount, { euros: 200 });
    await expect(session.approve(executionId, { ...manager, params: { euros: 900 } })).rejects.toMatchObject({
      code: 'APPROVER_NOT_ALLOWED',
      message: expect.stringContaining('wanted role "cfo"'),
    });
    await expect(
      session.approve(executionId, { by: 'cleo', roles: ['manager', 'cfo'], params: { euros: 20_000 } }),
    ).rejects.toMatchObject({ code: 'POLICY_DENIED' });
    expect(acts).toEqual([]);
    const amended = { ...manager, params: { euros: 100 } };
    expect(await (await session.approve(executionId, amended)).result()).toMatchObject({ state: 'IDLE' });
    await session.approve(executionId, amended);
    expect(acts).toEqual([{ euros: 100 }]);
    const rows = await database().query(
      'SELECT decided_by, decided_roles FROM turnlock.agent_approvals WHERE execution_id = $1',
      [executionId],
    );
    expect(rows).toEqual([{ decided_by: 'mia', decided_roles: ['manager'] }]);
    const decided = (await session.transitions()).find(({ type }) => type === 'approval.amended');
    expect(decided).toMatchObject({ event: { by: 'mia', roles: ['manager'] } });
  });

  test('a grant holds at the start only if whoever gave it is among the approvers of that moment', async () => {
    const approvers: { now: Approvers } = { now: { roles: ['manager'] } };
    const { runtime, session, acts, executionId } = await askedBy(() => requireApproval({ approvers: approvers.now }), {
      euros: 1,
    });
    approvers.now = { roles: ['cfo'] };
    const run = await session.approve(executionId, manager);
    expect(await run.result()).toMatchObject({ state: 'AWAITING_INPUT' });
    expect(await listed(runtime, session)).toMatchObject({ round: 2, approvers: { roles: ['cfo'] } });
    await expect(session.approve(executionId, manager)).rejects.toMatchObject({ code: 'APPROVER_NOT_ALLOWED' });
    expect(acts).toEqual([]);
    expect(await (await session.approve(executionId, cfo)).result()).toMatchObject({ state: 'IDLE' });
    expect(acts).toEqual([{ euros: 1 }]);
  });

  test('params that are given back as they were shown are no change, and are not converted again', async () => {
    const acts: unknown[] = [];
    const refund = defineTool({
      name: 'refund',
      description: 'Pays back.',
      inputSchema: z.object({ amount: z.number().transform((euros) => euros * 100) }),
      policy: () => requireApproval(),
      execute: (params) => void acts.push(params),
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('refund', { amount: 20 })] }, 'done'), [refund]);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await (await session.send('go')).result();
    const { executionId, params } = await listed(runtime, session);
    expect(params).toEqual({ amount: 2_000 });
    // Whether 30 are euros or cents, nobody can tell.
    await expect(session.approve(executionId, { by: 'ann', params: { amount: 30 } })).rejects.toMatchObject({
      code: 'PARAMS_INVALID',
      message: expect.stringContaining('converts'),
    });
    await (await session.approve(executionId, { by: 'ann', params })).result();
    expect(acts).toEqual([{ amount: 2_000 }]);
    expect((await session.transitions()).map(({ type }) => type)).toContain('approval.granted');
  });

  test('what a schema does only once is done to params of a person’s too', async () => {
    const acts: unknown[] = [];
    const note = defineTool({
      name: 'note',
      description: 'Notes.',
      inputSchema: z.object({ text: z.string().trim(), copies: z.number().default(1) }),
      policy: () => requireApproval(),
      execute: (params) => void acts.push(params),
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('note', { text: 'a' })] }, 'done'), [note]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const { awaiting } = await (await session.send('go')).result();
    const run = await session.approve(awaiting[0]!.executionId, { by: 'ann', params: { text: ' b ' } });
    await run.result();
    expect(acts).toEqual([{ text: 'b', copies: 1 }]);
  });

  const V1 = z.object({ euros: z.number() });
  const raised = versioned(V1).to(z.object({ cents: z.number() }), ({ euros }) => ({ cents: euros * 1_000 }));

  test.each(['a freeze', 'a repeat'] as const)(
    'C69 leave that %s made somebody give is for the params that were seen',
    async (why) => {
      const acts: unknown[] = [];
      const paying = (inputSchema: InputSchema) =>
        defineTool({
          name: 'pay',
          description: 'Pays.',
          inputSchema,
          policy: () => allow(),
          execute: (params) => void acts.push(params),
        });
      const pay = { toolCalls: [call('pay', { euros: 20 })] };
      const answers = eachRun(...(why === 'a repeat' ? [pay, pay] : [pay]), 'paid');
      const agent = scriptedAgent(answers, [paying(V1)]);
      const first = await openRuntime(database(), [agent]);
      const session = await openSession(first, agent, { tenantId: `tenant-${agent.name}` });
      const { tenantId } = session;
      if (why === 'a freeze') await database().query(`SELECT turnlock.put_control('freeze', $1, 'pay')`, [tenantId]);
      const { awaiting } = await (await session.send('go')).result();
      const [{ executionId, digest } = awaiting[0]!] = awaiting;
      await first.close();
      acts.length = 0;
      const runtime = await openRuntime(database(), [scriptedAgent(answers, [paying(raised)], agent.name)]);
      const here = await runtime.session(session);
      const held = await (await here.approve(executionId, { by: 'ann', digest })).result();
      expect(held).toMatchObject({ state: 'AWAITING_INPUT', awaiting: [{ params: { cents: 20_000 } }] });
      expect(acts).toEqual([]);
      const now = { by: 'ann', digest: paramsDigest({ cents: 20_000 }) };
      expect(await (await here.approve(executionId, now)).result()).toMatchObject({ state: 'IDLE' });
      expect(acts).toEqual([{ cents: 20_000 }]);
    },
  );

  test('C69 a further attempt that a person let run is for the params that were seen too', async () => {
    const acts: unknown[] = [];
    const paying = (inputSchema: InputSchema) =>
      defineTool({
        name: 'pay',
        description: 'Pays.',
        inputSchema,
        execute: (params) => {
          acts.push(params);
          if (acts.length === 1) throw new ToolError('No answer', { outcome: 'unknown' });
        },
      });
    const answers = eachRun({ toolCalls: [call('pay', { euros: 20 })] }, 'paid');
    const agent = scriptedAgent(answers, [paying(V1)]);
    const first = await openRuntime(database(), [agent]);
    const session = await openSession(first, agent);
    const { awaiting } = await (await session.send('go')).result();
    const [{ executionId } = awaiting[0]!] = awaiting;
    await first.close();
    const runtime = await openRuntime(database(), [scriptedAgent(answers, [paying(raised)], agent.name)]);
    const here = await runtime.session(session);
    const runAgain = { outcome: 'runAgain', by: 'ann' } as const;
    const held = await (await here.settle(executionId, runAgain)).result();
    expect(held).toMatchObject({ awaiting: [{ reason: 'unknown', params: { cents: 20_000 } }] });
    expect(acts).toHaveLength(1);
    expect(await (await here.settle(executionId, runAgain)).result()).toMatchObject({ state: 'IDLE' });
    expect(acts).toEqual([{ euros: 20 }, { cents: 20_000 }]);
  });
});
