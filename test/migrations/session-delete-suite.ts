import { expect, test } from 'vitest';
import { insertCall, insertExecution, insertSession, insertTurn, move, type Sql, TENANT } from './scene.ts';

/** Deleting a session, as retention does, takes all of it along, and what points to it from elsewhere stays and forgets it. */
export function describeSessionDelete(open: () => Sql): void {
  test('takes turns, executions, audit, evidence, approvals and inbox along, whatever points at what', async () => {
    const sql = open();
    const { sessionId, turnId, executionId } = await insertCall(sql);
    const over = { role: 'tool', execution_id: executionId, call_turn_id: turnId, call_ordinal: 0 };
    await insertTurn(sql, sessionId, 1, over);
    await move(sql, sessionId, 'PLANNING');
    for (const [target, values] of [
      ['agent_transition_payloads (tenant_id, session_id, sequence) VALUES ($1, $2, 1)', []],
      [
        `agent_tool_evidence (tenant_id, session_id, execution_id, attempt, token, outcome) VALUES ($1, $2, $3, 1, 1, 'failed')`,
        [executionId],
      ],
      [`agent_inbox (tenant_id, session_id, content) VALUES ($1, $2, 'x')`, []],
      [
        `agent_approvals (tenant_id, session_id, execution_id, args_digest, requested_at) VALUES ($1, $2, $3, 'd', now())`,
        [executionId],
      ],
    ] as const) {
      await sql.query(`INSERT INTO turnlock.${target}`, [TENANT, sessionId, ...values]);
    }
    await sql.query('DELETE FROM turnlock.agent_sessions WHERE session_id = $1', [sessionId]);
    for (const table of [
      'turns',
      'tool_executions',
      'transitions',
      'transition_payloads',
      'tool_evidence',
      'inbox',
      'approvals',
    ]) {
      const { rows } = await sql.query(`SELECT FROM turnlock.agent_${table} WHERE session_id = $1`, [sessionId]);
      expect([table, rows.length]).toEqual([table, 0]);
    }
  });

  test('children, forks, answered calls, claims and memories stay and forget it, without a version', async () => {
    const sql = open();
    const gone = await insertCall(sql, { status: 'SUCCESS' });
    const links = { parent_session_id: gone.sessionId, parent_execution_id: gone.executionId };
    const child = await insertSession(sql, {
      ...links,
      fork_origin_session_id: gone.sessionId,
      fork_origin_turn_index: 0,
    });
    await move(sql, child, 'COMPLETED');
    const turnId = await insertTurn(sql, await insertSession(sql), 0);
    const { rows: owners } = await sql.query('SELECT session_id FROM turnlock.agent_turns WHERE turn_id = $1', [
      turnId,
    ]);
    const answered = await insertExecution(
      sql,
      { sessionId: owners[0].session_id, turnId },
      { status: 'SUCCESS', answered_by: gone.executionId },
    );
    await sql.query(
      `INSERT INTO turnlock.agent_idempotency_claims
          (tenant_id, tool_name, key_digest, state, execution_id, params_digest, user_id, created_at, updated_at)
        VALUES ($1, 'tool', 'key-of-gone', 'succeeded', $2, 'd', 'u', now(), now())`,
      [TENANT, gone.executionId],
    );
    await sql.query(
      `INSERT INTO turnlock.agent_memories (tenant_id, user_id, kind, content, session_id, created_at, updated_at)
        VALUES ($1, 'user', 'fact', 'of gone', $2, now(), now())`,
      [TENANT, gone.sessionId],
    );
    await sql.query('DELETE FROM turnlock.agent_sessions WHERE session_id = $1', [gone.sessionId]);
    const { rows } = await sql.query(
      `SELECT s.version, s.fork_origin_turn_index,
          num_nonnulls(s.parent_session_id, s.parent_execution_id, s.fork_origin_session_id) AS links,
          (SELECT answered_by FROM turnlock.agent_tool_executions WHERE execution_id = $2) AS answered_by,
          (SELECT num_nonnulls(execution_id) FROM turnlock.agent_idempotency_claims WHERE key_digest = 'key-of-gone') AS claims,
          (SELECT num_nonnulls(session_id) FROM turnlock.agent_memories WHERE content = 'of gone') AS memories
        FROM turnlock.agent_sessions s WHERE s.session_id = $1`,
      [child, answered],
    );
    expect(rows).toEqual([
      { version: 1, fork_origin_turn_index: 0, links: 0, answered_by: null, claims: 0, memories: 0 },
    ]);
  });
}
