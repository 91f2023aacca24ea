import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Policy, requireApproval, ToolError } from '../../index.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';

const byManagers: Policy = () => requireApproval({ approvers: { roles: ['manager'] } });
const refused = { code: 'APPROVER_NOT_ALLOWED', message: expect.stringContaining('wanted role "manager"') };

onPostgres((database) => {
  /** A call for which a manager is asked, and which says each time that it does not know whether it acted. */
  async function asked(policy = byManagers) {
    const tell = () => Promise.reject(new ToolError('No answer', { outcome: 'unknown' }));
    const pay = looseTool('pay', tell, { effect: 'nonRepeatable', policy });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('pay', { order: 1 })] }, 'done'), [pay]);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const { awaiting } = await (await session.send('go')).result();
    return { runtime, session, executionId: awaiting[0]!.executionId };
  }

  test('who may not decide about a call does not settle it either', async () => {
    const { session, executionId } = await asked();
    const failed = { outcome: 'failed', reason: 'no' } as const;
    await expect(session.settle(executionId, { ...failed, by: 'bob' })).rejects.toMatchObject(refused);
    await expect(session.settle(executionId, { ...failed, by: 'bob', roles: ['clerk'] })).rejects.toMatchObject(
      refused,
    );
    await expect(
      session.settle(executionId, { outcome: 'runAgain', by: 'mia', roles: ['manager'] }),
    ).rejects.toMatchObject({
      code: 'OUTCOME_INVALID',
      message: expect.stringContaining('never run'),
    });
    const run = await session.settle(executionId, { ...failed, by: 'mia', roles: ['manager'] });
    expect(await run.result()).toMatchObject({ state: 'IDLE' });
    const [row] = await database().query(
      'SELECT decision, decided_by, decided_roles FROM turnlock.agent_approvals WHERE execution_id = $1',
      [executionId],
    );
    expect(row).toEqual({ decision: 'settled', decided_by: 'mia', decided_roles: ['manager'] });
  });

  test('nor does the user of the session by another name, where the policy says `notUser`', async () => {
    const { session, executionId } = await asked(() =>
      requireApproval({ approvers: { roles: ['manager'], notUser: true } }),
    );
    const { userId } = await session.status();
    const failed = { outcome: 'failed', reason: 'no', by: 'user@shop.example', roles: ['manager'] } as const;
    const settle = () => session.settle(executionId, { ...failed, userId });
    await expect(settle()).rejects.toMatchObject({ code: 'APPROVER_NOT_ALLOWED' });
    await (await session.approve(executionId, { by: 'mia', roles: ['manager'] })).result();
    await expect(settle()).rejects.toMatchObject({ code: 'APPROVER_NOT_ALLOWED' });
    await session.cancel();
    await expect(settle()).rejects.toMatchObject({ code: 'APPROVER_NOT_ALLOWED' });
    await session.settle(executionId, { ...failed, by: 'mia', userId: 'another' });
  });

  test('a call that the session does not have is not found, whether a question is named or not', async () => {
    const { session, executionId } = await asked();
    const [approvalId] = (await session.status()).awaiting.map((one) => one.approvalId);
    const mia = { outcome: 'succeeded', by: 'mia', roles: ['manager'] } as const;
    for (const named of [{}, { approvalId: approvalId! }, { approvalId: randomUUID() }]) {
      const settled = session.settle(randomUUID(), { ...mia, ...named });
      await expect(settled).rejects.toMatchObject({ code: 'EXECUTION_NOT_FOUND' });
    }
    const another = session.settle(executionId, { ...mia, approvalId: randomUUID() });
    await expect(another).rejects.toMatchObject({ code: 'APPROVAL_STALE' });
  });

  test('nor an unknown outcome of one that they approved: it is asked of the same approvers', async () => {
    const { runtime, session, executionId } = await asked();
    const manager = { by: 'mia', roles: ['manager'] };
    expect(await (await session.approve(executionId, manager)).result()).toMatchObject({ state: 'AWAITING_INPUT' });
    const [unknown] = await runtime.awaiting({ tenantId: 'tenant', sessionId: session.sessionId });
    expect(unknown).toMatchObject({ reason: 'unknown', approvers: { roles: ['manager'] } });
    for (const settlement of [{ outcome: 'succeeded' }, { outcome: 'runAgain' }] as const) {
      await expect(session.settle(executionId, { ...settlement, by: 'bob' })).rejects.toMatchObject(refused);
    }
    await session.cancel();
    await expect(session.settle(executionId, { outcome: 'succeeded', by: 'bob' })).rejects.toMatchObject(refused);
    await session.settle(executionId, { outcome: 'succeeded', ...manager });
    expect((await session.history()).at(-1)).toMatchObject({ role: 'system' });
  });
});
