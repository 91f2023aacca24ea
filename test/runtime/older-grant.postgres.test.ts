import { expect, test } from 'vitest';
import { type Policy, type Runtime, requireApproval, type Session } from '../../index.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession } from '../support/runtime-open.ts';
import { refundAgent } from './approval-scene.ts';

onPostgres((database) => {
  /** A call that was approved in its first round, and about which somebody is asked anew, since it was frozen before it could start. */
  async function askAnew() {
    const policy: Policy = () => requireApproval({ question: 'Much money?' });
    const { agent, acts } = refundAgent(policy, { order: 1 });
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent, { tenantId: `tenant-${agent.name}` });
    await (await session.send('refund')).result();
    const first = await askedOf(runtime, session);
    await database().query(`SELECT turnlock.put_control('freeze', $1, 'refund')`, [session.tenantId]);
    const { executionId, digest, approvalId } = first;
    await (await session.approve(executionId, { by: 'ada', digest, approvalId })).result();
    return { runtime, session, acts, first, second: await askedOf(runtime, session) };
  }

  async function askedOf(runtime: Runtime, { tenantId, sessionId }: Session) {
    const [asked] = await runtime.awaiting({ tenantId, sessionId });
    return asked!;
  }

  test('a grant of an earlier round does not let a call start about which a later one asks', async () => {
    const { runtime, session, acts, second } = await askAnew();
    expect(second).toMatchObject({ round: 2, question: 'Much money?\nThe tool refund is frozen.' });
    await runtime.recover();
    expect((await session.status()).state).toBe('AWAITING_INPUT');
    expect(acts).toEqual([]);
    // Nor does the database, whoever says so.
    const start = `UPDATE turnlock.agent_tool_executions SET status = 'RUNNING', attempt = 1, fencing_token = 1 WHERE execution_id = $1`;
    await expect(database().query(start, [second.executionId])).rejects.toMatchObject({ code: 'TL036' });
  });

  test('a decision that names its question answers that one alone, however late and however often it is delivered', async () => {
    const { session, acts, first, second } = await askAnew();
    const { executionId, digest } = first;
    const late = { by: 'ada', digest, approvalId: first.approvalId };
    const refused = { code: 'APPROVAL_DECIDED', details: { round: 1, decision: 'cancelled' } };
    await expect(session.approve(executionId, late)).rejects.toMatchObject(refused);
    await expect(session.deny(executionId, { ...late, reason: 'no' })).rejects.toMatchObject(refused);
    const unknown = { by: 'ada', digest, approvalId: '0198c5f0-0000-7000-8000-000000000009' };
    await expect(session.approve(executionId, unknown)).rejects.toMatchObject({ code: 'APPROVAL_STALE' });
    await expect(session.approve(executionId, { ...unknown, approvalId: 'that one' })).rejects.toMatchObject({
      code: 'VALUE_INVALID',
    });
    expect(acts).toEqual([]);
    const now = { by: 'ada', digest, approvalId: second.approvalId };
    await (await session.approve(executionId, now)).result();
    await (await session.approve(executionId, now)).result();
    expect(acts).toEqual([{ order: 1 }]);
  });
});
