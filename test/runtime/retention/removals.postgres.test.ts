import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Agent, defineTool, type RetentionPolicy, type Runtime, type Session, ToolError } from '../../../index.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { LONG_MS, openRuntime, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun } from '../../support/runtime-script.ts';

const STATES = ['IDLE', 'AWAITING_INPUT', 'FAILED', 'COMPLETED'] as const;
const all = (olderThanMs: number): RetentionPolicy[] => STATES.map((state) => ({ state, olderThanMs }));

onPostgres((database) => {
  async function begin() {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    return { agent, runtime, tenantId: `removed-${randomBytes(4).toString('hex')}` };
  }

  const open = (runtime: Runtime, agent: Agent, tenantId: string) =>
    runtime.createSession({ agent: agent.name, tenantId, userId: 'user' });

  test('the age is that of the last transition, whatever the service’s role writes into the session', async () => {
    const { agent, runtime, tenantId } = await begin();
    const session = await open(runtime, agent, tenantId);
    await (await session.send('hello')).result();
    await database().query('SET session_replication_role = replica');
    await database().query(`UPDATE turnlock.agent_sessions SET updated_at = '2001-01-01' WHERE session_id = $1`, [
      session.sessionId,
    ]);
    await database().query('SET session_replication_role = origin');
    const policies = all(LONG_MS / 2);
    expect(await runtime.retain({ tenantId, policies })).toMatchObject({ sessions: [], kept: 0 });
    await database().moveClock(LONG_MS);
    expect(await runtime.retain({ tenantId, policies })).toMatchObject({ sessions: [{ sessions: 1 }] });
  });

  test('who removed which sessions by which policy is noted, and each tenant is told of its own', async () => {
    const { agent, runtime, tenantId } = await begin();
    const gone = [await open(runtime, agent, tenantId), await open(runtime, agent, tenantId)];
    const ids = gone.map(({ sessionId }) => sessionId).sort();
    await gone[0]!.complete({ by: 'ann' });
    await database().moveClock(LONG_MS);
    await runtime.retain({ tenantId, policies: all(0) });
    const notes = await database().query(
      `SELECT criteria, operator FROM turnlock.agent_operator_reads WHERE function_name = 'remove_sessions' AND criteria ->> 'tenantId' = $1
        ORDER BY criteria ->> 'state'`,
      [tenantId],
    );
    const noted = (state: string, session: Session) => ({
      criteria: { tenantId, state, policy: { state, olderThanMs: 0 }, sessionIds: [session.sessionId] },
      operator: expect.any(String),
    });
    expect(notes).toEqual([noted('COMPLETED', gone[0]!), noted('IDLE', gone[1]!)]);
    const told = async (tenant: string) => {
      const [row] = await database().query(
        `SELECT set_config('turnlock.tenant', $1, false),
           (SELECT array_agg(session_id ORDER BY session_id) FROM turnlock.removed_sessions($2)) AS ids`,
        [tenant, ids],
      );
      return row.ids;
    };
    expect(await told(tenantId)).toEqual(ids);
    expect(await told('another')).toBeNull();
  });

  test('a key whose outcome nobody knew when its session was removed stays held, which is no finding; keys are looked at without a session', async () => {
    const { runtime, tenantId } = await begin();
    const tool = defineTool({
      name: 'refund',
      description: 'Refunds.',
      inputSchema: z.looseObject({}),
      effect: 'nonRepeatable',
      once: { per: 'tenant', key: () => 'order' },
      execute: () => Promise.reject(new ToolError('the line broke', { outcome: 'unknown' })),
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('refund')] }), [tool]);
    const own = await openRuntime(database(), [agent]);
    await (await (await open(own, agent, tenantId)).send('go')).result();
    await database().moveClock(LONG_MS);
    expect(await runtime.retain({ tenantId, policies: all(0) })).toMatchObject({
      sessions: [{ state: 'AWAITING_INPUT', sessions: 1 }],
    });
    const stateOf = async () =>
      database().query(
        'SELECT state, execution_id AS execution FROM turnlock.agent_idempotency_claims WHERE tenant_id = $1',
        [tenantId],
      );
    expect(await stateOf()).toEqual([{ state: 'held', execution: null }]);
    const findings = async () =>
      (await own.doctor({ tenantId })).findings
        .filter((finding) => finding.tenantId === tenantId)
        .map(({ code }) => code);
    expect(await findings()).toEqual([]);
    const again = await open(own, agent, tenantId);
    await (await again.send('go')).result();
    expect((await again.history()).map(({ content }) => content).join()).toContain('The call was not run');
    await again.complete({ by: 'ann' });
    await database().moveClock(LONG_MS);
    await runtime.retain({ tenantId, policies: all(0) });
    await database().query('SET session_replication_role = replica');
    await database().query(
      'UPDATE turnlock.agent_idempotency_claims SET execution_id = gen_random_uuid() WHERE tenant_id = $1',
      [tenantId],
    );
    await database().query('SET session_replication_role = origin');
    expect(await findings()).toEqual(['CLAIM_STUCK']);
  });
});
