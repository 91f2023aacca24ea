import pg from 'pg';
import { expect, test } from 'vitest';
import { requireApproval } from '../../index.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';
import { withRole } from './as-least-privileged.ts';

/** What the service's role can add to a session past every commit, and who sees it. */

onPostgres((database) => {
  const asRole = withRole(database);

  test.each<[what: string, found: string[], text: string]>([
    [
      'a turn that nobody said',
      ['TURNS_UNACCOUNTED'],
      `INSERT INTO turnlock.agent_turns (tenant_id, session_id, turn_index, role, content, parts)
        SELECT tenant_id, session_id, max(turn_index) + 1, 'assistant', 'I never said this', '[]' FROM turnlock.agent_turns
          WHERE session_id = $1 GROUP BY 1, 2`,
    ],
    [
      'the result of a call that never ran',
      ['OUTCOMES_UNACCOUNTED'],
      `UPDATE turnlock.agent_tool_executions SET status = 'SUCCESS', output_payload = '"paid"' WHERE session_id = $1`,
    ],
    [
      'a model call, which counts against budgets',
      ['ROWS_UNACCOUNTED'],
      `INSERT INTO turnlock.agent_model_calls (tenant_id, session_id, run_id, attempt, model_id, agent_version, window_from, window_to, started_at)
        SELECT tenant_id, session_id, gen_random_uuid(), 1, 'm', 1, 0, 0, now() FROM turnlock.agent_sessions WHERE session_id = $1`,
    ],
    [
      'evidence of what no tool said',
      [],
      `INSERT INTO turnlock.agent_tool_evidence (tenant_id, session_id, execution_id, attempt, token, outcome, output)
        SELECT tenant_id, session_id, execution_id, 1, 1, 'succeeded', '"paid"' FROM turnlock.agent_tool_executions WHERE session_id = $1`,
    ],
  ])('a stolen runtime role adds %s, and verify finds %j', async (_what, found, text) => {
    const pay = looseTool('pay', () => 'paid', { policy: () => requireApproval() });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('pay')] }), [pay]);
    const runtime = await openRuntime(asRole(), [agent]);
    const session = await runtime.createSession({ agent: agent.name, tenantId: 'stolen', userId: 'user' });
    await (await session.send('go')).result();
    const thief = new pg.Client({ connectionString: asRole().url });
    await thief.connect();
    atTestEnd(() => thief.end());
    await thief.query(`SELECT set_config('turnlock.tenant', 'stolen', false)`);
    expect((await thief.query(text, [session.sessionId])).rowCount).toBe(1);
    expect((await session.verify()).findings.map(({ code }) => code)).toEqual(
      found.length === 0 ? [] : expect.arrayContaining(found),
    );
  });
});
