import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Policy, requireApproval, type Session } from '../../../index.ts';
import { paramsDigest } from '../../../persistence/keys/params-digest.ts';
import { type AsApplication, asApplication, tamper } from '../../support/as-application.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession } from '../../support/runtime-open.ts';
import { refundAgent } from '../approval-scene.ts';

const OTHER = paramsDigest({ order: 1_000_000 });

onPostgres((database) => {
  let application: AsApplication;
  beforeAll(async () => {
    application = await asApplication(database().url, 'tenant');
  });
  afterAll(() => application.end());

  /** A call that waits for a person, who has seen its params. */
  async function asked() {
    const policy: Policy = () => requireApproval({ question: 'Refund?' });
    const { agent, acts } = refundAgent(policy, { order: 1 });
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await (await session.send('refund')).result();
    const list = () => runtime.awaiting({ tenantId: 'tenant', sessionId: session.sessionId });
    const [seen] = await list();
    return { runtime, session, acts, list, seen: seen! };
  }

  const set = (executionId: string, columns: string) =>
    `UPDATE turnlock.agent_tool_executions SET ${columns} WHERE execution_id = '${executionId}'`;

  test('with the application’s role nobody changes what a call is while a person decides', async () => {
    const { session, acts, seen } = await asked();
    for (const columns of [
      `input_parameters = '{"order": 1000000}'`,
      `input_parameters = '{"order": 1000000}', params_digest = '${OTHER}'`,
      `params_digest = '${OTHER}'`,
      `idempotency_key = 'another'`,
      `claim_digest = 'another'`,
      'cost_micro_money = 0',
      `tool_name = 'other'`,
      `raw_input = '{}'`,
      'answered_by = execution_id',
      `upgraded_parameters = '{"order": 1000000}', upgraded_version = 1, upgraded_digest = params_digest`,
      `upgraded_parameters = '{"order": 1000000}'`,
    ]) {
      expect(await application.attempt(set(seen.executionId, columns)), columns).toMatch(/^TL03[23]$/);
    }
    await (await session.approve(seen.executionId, { by: 'ann', digest: seen.digest })).result();
    expect(acts).toEqual([{ order: 1 }]);
  });

  test('nor all of them together, of a call about which nobody is asked', async () => {
    const { session, seen } = await asked();
    await tamper(database().url, `DELETE FROM turnlock.agent_approvals WHERE session_id = '${session.sessionId}'`);
    const all = `input_parameters = '{"order": 1000000}', params_digest = '${OTHER}', idempotency_key = 'another'`;
    expect(await application.attempt(set(seen.executionId, all))).toBe('TL033');
  });

  describe('where they were changed past every guard', () => {
    const PARAMS = `input_parameters = '{"order": 1000000}'`;

    async function refused(session: Session, executionId: string, digest: string): Promise<void> {
      const changed = { code: 'PARAMS_CHANGED', details: { executionId } };
      await expect(session.approve(executionId, { by: 'ann', digest })).rejects.toMatchObject(changed);
      await expect(session.approve(executionId, { by: 'ann' })).rejects.toMatchObject(changed);
    }

    test.each([
      ['the params', PARAMS],
      ['params and digest', `${PARAMS}, params_digest = '${OTHER}', idempotency_key = 'another'`],
      [
        'params of a later version with the digest of the earlier one',
        `upgraded_parameters = '{"order": 1000000}', upgraded_version = 2, upgraded_digest = params_digest`,
      ],
    ])('%s: no approval is taken, nothing runs, and a refusal is', async (_what, columns) => {
      const { runtime, session, acts, seen } = await asked();
      await tamper(database().url, set(seen.executionId, columns));
      await refused(session, seen.executionId, seen.digest);
      const [answer] = await runtime.decide({
        tenantId: 'tenant',
        decisions: [{ executionId: seen.executionId, decision: 'approve', by: 'ann', digest: seen.digest }],
      });
      expect(answer).toMatchObject({ ok: false, error: { code: 'PARAMS_CHANGED' } });
      expect((await session.status()).state).toBe('AWAITING_INPUT');
      await (await session.deny(seen.executionId, { by: 'ann', reason: 'changed' })).result();
      expect(acts).toEqual([]);
    });

    test('whoever is asked sees it', async () => {
      const { session, list, seen } = await asked();
      expect(seen.problem).toBeNull();
      await tamper(database().url, set(seen.executionId, PARAMS));
      expect(await list()).toMatchObject([{ problem: { code: 'PARAMS_CHANGED' } }]);
      expect((await session.status()).awaiting).toMatchObject([{ problem: { code: 'PARAMS_CHANGED' } }]);
      const amended = session.approve(seen.executionId, { by: 'ann', params: { order: 2 } });
      await expect(amended).rejects.toMatchObject({ code: 'PARAMS_CHANGED' });
    });

    test('between grant and start: the call is not run, and a person is asked', async () => {
      const policy: Policy = () => requireApproval({ question: 'Refund?' });
      const { agent, acts } = refundAgent(policy, { order: 1 });
      const runtime = await openRuntime(database(), [agent], { drive: false });
      const session = await openSession(runtime, agent);
      const driving = await openRuntime(database(), [agent]);
      await session.send('refund');
      await driving.recover();
      const [seen] = await runtime.awaiting({ tenantId: 'tenant', sessionId: session.sessionId });
      await session.approve(seen!.executionId, { by: 'ann', digest: seen!.digest });
      await tamper(database().url, set(seen!.executionId, PARAMS));
      await driving.recover();
      expect(acts).toEqual([]);
      expect((await session.status()).awaiting).toMatchObject([{ problem: { code: 'PARAMS_CHANGED' } }]);
    });
  });
});
