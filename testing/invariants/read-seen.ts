import type { KitDatabase } from '../database/kit-database.contract.ts';
import type { SeenExecution } from '../subject.ts';

const EXECUTIONS = `SELECT e.tenant_id, s.user_id, e.session_id, e.execution_id, e.idempotency_key, e.tool_name, e.status, e.output_payload,
    COALESCE(e.upgraded_parameters, e.input_parameters) AS params, e.unknown_at IS NOT NULL OR e.status = 'TIMED_OUT' AS is_unknown,
    e.settled_by, e.answered_by, e.error_code,
    (SELECT a.decided_by FROM turnlock.agent_approvals a
      WHERE a.execution_id = e.execution_id AND a.kind = 'approval' AND a.decision = 'granted' ORDER BY a.round DESC LIMIT 1) AS approved_by
  FROM turnlock.agent_tool_executions e JOIN turnlock.agent_sessions s USING (session_id) JOIN turnlock.agent_turns t USING (turn_id)
  ORDER BY s.external_id, s.session_id, t.turn_index, e.ordinal`;

/** Every execution, as it is committed. */
export async function readSeen(database: Pick<KitDatabase, 'query'>): Promise<SeenExecution[]> {
  const rows = await database.query(EXECUTIONS);
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    userId: row.user_id,
    sessionId: row.session_id,
    executionId: row.execution_id,
    idempotencyKey: row.idempotency_key,
    toolName: row.tool_name,
    params: row.params,
    status: row.status,
    isUnknown: row.is_unknown,
    output: row.output_payload,
    approvedBy: row.approved_by,
    settledBy: row.settled_by,
    answeredBy: row.answered_by,
    errorCode: row.error_code,
  }));
}
