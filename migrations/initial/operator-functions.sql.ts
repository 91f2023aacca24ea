import { raiseFromCall } from './raise.sql.ts';

const ANSWER = 'RETURNS TABLE (tenant_id varchar(64), session_id uuid, due_at timestamptz)';

/** What operators call across tenants. Each call leaves a row in `agent_operator_reads`, in the caller's transaction. */
export function operatorFunctionsSql(schema: string): string[] {
  const settings = `SECURITY DEFINER SET search_path = pg_catalog, ${schema}, pg_temp`;
  return [
    // session_user and not current_user: inside a SECURITY DEFINER function the latter is the owner.
    `CREATE FUNCTION ${schema}.note_operator_read(function_name text, criteria jsonb) RETURNS void
LANGUAGE sql ${settings} AS $$
  INSERT INTO agent_operator_reads (function_name, criteria, operator, created_at)
    VALUES (note_operator_read.function_name, note_operator_read.criteria, session_user, turnlock_now())
$$`,
    `CREATE FUNCTION ${schema}.find_sessions(
  external_id text DEFAULT NULL, execution_id uuid DEFAULT NULL, idempotency_key text DEFAULT NULL, metadata jsonb DEFAULT NULL,
  by_session_id uuid DEFAULT NULL, max_sessions int DEFAULT 100
) ${ANSWER} LANGUAGE plpgsql ${settings} AS $$
#variable_conflict use_column
BEGIN
  IF num_nonnulls(find_sessions.external_id, find_sessions.execution_id, find_sessions.idempotency_key, find_sessions.metadata,
       find_sessions.by_session_id) <> 1 THEN
    ${raiseFromCall({ code: 'TL060', name: 'argument_invalid' }, 'find_sessions takes one criterion')}
  END IF;
  PERFORM note_operator_read('find_sessions', jsonb_strip_nulls(jsonb_build_object('externalId', find_sessions.external_id,
    'executionId', find_sessions.execution_id, 'idempotencyKey', find_sessions.idempotency_key, 'metadata', find_sessions.metadata,
    'sessionId', find_sessions.by_session_id)));
  RETURN QUERY SELECT s.tenant_id, s.session_id, COALESCE(s.lease_expires_at, s.wake_at) FROM agent_sessions s
    WHERE (find_sessions.external_id IS NULL OR s.external_id = find_sessions.external_id)
      AND (find_sessions.by_session_id IS NULL OR s.session_id = find_sessions.by_session_id)
      AND (find_sessions.metadata IS NULL OR s.metadata @> find_sessions.metadata)
      AND (find_sessions.execution_id IS NULL OR s.session_id =
        (SELECT e.session_id FROM agent_tool_executions e WHERE e.execution_id = find_sessions.execution_id))
      AND (find_sessions.idempotency_key IS NULL OR s.session_id =
        (SELECT e.session_id FROM agent_tool_executions e WHERE e.idempotency_key = find_sessions.idempotency_key))
    ORDER BY s.updated_at DESC LIMIT LEAST(GREATEST(find_sessions.max_sessions, 0), 1000);
END
$$`,
    // For doctor: every session, page by page in the order of their ids.
    `CREATE FUNCTION ${schema}.list_sessions(after_session_id uuid DEFAULT NULL, max_sessions int DEFAULT 500)
${ANSWER} LANGUAGE plpgsql ${settings} AS $$
#variable_conflict use_column
BEGIN
  PERFORM note_operator_read('list_sessions', jsonb_build_object('after', list_sessions.after_session_id));
  RETURN QUERY SELECT s.tenant_id, s.session_id, COALESCE(s.lease_expires_at, s.wake_at) FROM agent_sessions s
    WHERE list_sessions.after_session_id IS NULL OR s.session_id > list_sessions.after_session_id
    ORDER BY s.session_id LIMIT LEAST(GREATEST(list_sessions.max_sessions, 0), 10000);
END
$$`,
    `CREATE FUNCTION ${schema}.put_control(
  kind text, tenant_id text DEFAULT NULL, tool_name text DEFAULT NULL, unit text DEFAULT NULL, daily_limit bigint DEFAULT NULL,
  reason text DEFAULT NULL
) RETURNS uuid LANGUAGE sql ${settings} AS $$
  INSERT INTO agent_controls (kind, tenant_id, tool_name, unit, daily_limit, reason, created_by, created_at)
    VALUES (put_control.kind, put_control.tenant_id, put_control.tool_name, put_control.unit, put_control.daily_limit,
      put_control.reason, session_user, turnlock_now())
    RETURNING control_id
$$`,
    `CREATE FUNCTION ${schema}.list_controls() RETURNS SETOF ${schema}.agent_controls LANGUAGE plpgsql ${settings} AS $$
BEGIN
  PERFORM note_operator_read('list_controls', '{}'::jsonb);
  RETURN QUERY SELECT c.* FROM agent_controls c ORDER BY c.created_at, c.control_id;
END
$$`,
    `CREATE FUNCTION ${schema}.drop_control(control_id uuid) RETURNS boolean LANGUAGE sql ${settings} AS $$
  WITH gone AS (DELETE FROM agent_controls c WHERE c.control_id = drop_control.control_id RETURNING 1)
  SELECT EXISTS (SELECT FROM gone)
$$`,
  ];
}
