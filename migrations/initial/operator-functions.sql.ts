import { raiseFromCall } from './raise.sql.ts';

const ANSWER = 'RETURNS TABLE (tenant_id varchar(64), session_id uuid, due_at timestamptz)';

/** What is noted of a freeze or a budget: without its reason, which is anybody's words. */
const CONTROL = (of: string) => `jsonb_strip_nulls(jsonb_build_object('kind', ${of}.kind, 'tenantId', ${of}.tenant_id,
    'toolName', ${of}.tool_name, 'unit', ${of}.unit, 'dailyLimit', ${of}.daily_limit))`;

/** What operators call across tenants. Each call leaves a row in `agent_operator_reads`, in the caller's transaction. */
export function operatorFunctionsSql(schema: string): string[] {
  const settings = `SECURITY DEFINER SET search_path = pg_catalog, ${schema}, pg_temp`;
  return [
    // session_user and not current_user: inside a SECURITY DEFINER function the latter is the owner. The row goes with the caller's
    // transaction, the line in the server's log stays when that is rolled back. A warning is logged by default, and without the statement,
    // which holds what was looked for; a LOG would bring it along.
    `CREATE FUNCTION ${schema}.note_operator_read(function_name text, criteria jsonb) RETURNS void
LANGUAGE plpgsql ${settings} AS $$
BEGIN
  RAISE WARNING 'turnlock: % was called by %', note_operator_read.function_name, session_user;
  INSERT INTO agent_operator_reads (function_name, criteria, operator, created_at)
    VALUES (note_operator_read.function_name, note_operator_read.criteria, session_user, turnlock_now());
END
$$`,
    findSessionsSql(schema, settings),
    // For doctor and preflight: every session, page by page in the order of tenants and ids, so that a tenant's stand together.
    `CREATE FUNCTION ${schema}.list_sessions(
  after_session_id uuid DEFAULT NULL, max_sessions int DEFAULT 500, after_tenant_id text DEFAULT NULL
) ${ANSWER} LANGUAGE plpgsql ${settings} AS $$
#variable_conflict use_column
BEGIN
  PERFORM note_operator_read('list_sessions',
    jsonb_build_object('after', list_sessions.after_session_id, 'tenantId', list_sessions.after_tenant_id));
  RETURN QUERY SELECT s.tenant_id, s.session_id, COALESCE(s.lease_expires_at, s.wake_at) FROM agent_sessions s
    WHERE (s.tenant_id, s.session_id)
      > (COALESCE(list_sessions.after_tenant_id, ''), COALESCE(list_sessions.after_session_id, '00000000-0000-0000-0000-000000000000'))
    ORDER BY s.tenant_id, s.session_id LIMIT LEAST(GREATEST(list_sessions.max_sessions, 0), 10000);
END
$$`,
    // For doctor, in the order of their names: tenants that have memories or business keys, which may outlive all of their sessions.
    `CREATE FUNCTION ${schema}.list_keeping_tenants(after_tenant_id text DEFAULT NULL, max_tenants int DEFAULT 500)
RETURNS TABLE (tenant_id varchar(64), has_sessions boolean) LANGUAGE plpgsql ${settings} AS $$
#variable_conflict use_column
DECLARE
  place text := COALESCE(list_keeping_tenants.after_tenant_id, '');
BEGIN
  PERFORM note_operator_read('list_keeping_tenants', jsonb_build_object('tenantId', list_keeping_tenants.after_tenant_id));
  FOR examined IN 1 .. LEAST(GREATEST(list_keeping_tenants.max_tenants, 0), 10000) LOOP
    place := LEAST((SELECT m.tenant_id FROM agent_memories m WHERE m.tenant_id > place ORDER BY m.tenant_id LIMIT 1),
      (SELECT c.tenant_id FROM agent_idempotency_claims c WHERE c.tenant_id > place ORDER BY c.tenant_id LIMIT 1));
    EXIT WHEN place IS NULL;
    tenant_id := place;
    has_sessions := EXISTS (SELECT FROM agent_sessions s WHERE s.tenant_id = place);
    RETURN NEXT;
  END LOOP;
END
$$`,
    `CREATE FUNCTION ${schema}.put_control(
  kind text, tenant_id text DEFAULT NULL, tool_name text DEFAULT NULL, unit text DEFAULT NULL, daily_limit bigint DEFAULT NULL,
  reason text DEFAULT NULL
) RETURNS uuid LANGUAGE sql ${settings} AS $$
  SELECT note_operator_read('put_control', ${CONTROL('put_control')});
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
    `CREATE FUNCTION ${schema}.drop_control(control_id uuid) RETURNS boolean LANGUAGE plpgsql ${settings} AS $$
DECLARE
  dropped ${schema}.agent_controls;
BEGIN
  DELETE FROM agent_controls c WHERE c.control_id = drop_control.control_id RETURNING c.* INTO dropped;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM note_operator_read('drop_control', ${CONTROL('dropped')});
  RETURN true;
END
$$`,
  ];
}

/*
 * Sessions of any tenant by one criterion, last changed first. A run and a message are found by the transition that they began or were noted
 * with, each by a partial index, and in the inbox where they wait. The event id of a message is that of `eventIdFromMessageId`; it is what is
 * noted of the look, so that no message id of a caller's stays there. `foundIn` names the tenants whose sessions were shown: only an erasure
 * in one of those overwrites what was looked for.
 */
function findSessionsSql(schema: string, settings: string): string {
  const given = ['external_id', 'execution_id', 'idempotency_key', 'metadata', 'by_session_id', 'run_id', 'message_id'];
  const criteria = given.map((name) => `find_sessions.${name}`);
  return `CREATE FUNCTION ${schema}.find_sessions(
  external_id text DEFAULT NULL, execution_id uuid DEFAULT NULL, idempotency_key text DEFAULT NULL, metadata jsonb DEFAULT NULL,
  by_session_id uuid DEFAULT NULL, max_sessions int DEFAULT 100, run_id uuid DEFAULT NULL, message_id text DEFAULT NULL
) ${ANSWER} LANGUAGE plpgsql ${settings} AS $$
#variable_conflict use_column
DECLARE
  wanted int := LEAST(GREATEST(find_sessions.max_sessions, 0), 1000);
  event_of_message text := 'message:'
    || encode(sha256(convert_to('["message",' || to_json(find_sessions.message_id)::text || ']', 'UTF8')), 'hex');
  found uuid[];
BEGIN
  IF num_nonnulls(${criteria.join(', ')}) <> 1 THEN
    ${raiseFromCall({ code: 'TL060', name: 'argument_invalid' }, 'find_sessions takes one criterion')}
  END IF;
  IF find_sessions.by_session_id IS NOT NULL THEN
    found := ARRAY[find_sessions.by_session_id];
  ELSIF find_sessions.execution_id IS NOT NULL THEN
    found := ARRAY(SELECT e.session_id FROM agent_tool_executions e WHERE e.execution_id = find_sessions.execution_id);
  ELSIF find_sessions.idempotency_key IS NOT NULL THEN
    found := ARRAY(SELECT e.session_id FROM agent_tool_executions e WHERE e.idempotency_key = find_sessions.idempotency_key);
  ELSIF find_sessions.run_id IS NOT NULL THEN
    found := ARRAY(SELECT t.session_id FROM agent_transitions t
        WHERE t.run_id = find_sessions.run_id AND t.event IN ('user.messaged', 'session.retried')
      UNION SELECT i.session_id FROM agent_inbox i WHERE i.run_id = find_sessions.run_id);
  ELSIF find_sessions.message_id IS NOT NULL THEN
    found := ARRAY(SELECT t.session_id FROM agent_transitions t WHERE t.event IN ('user.messaged', 'message.enqueued') AND t.event_id = event_of_message
      UNION SELECT i.session_id FROM agent_inbox i WHERE i.message_id = find_sessions.message_id);
  ELSIF find_sessions.external_id IS NOT NULL THEN
    found := ARRAY(SELECT s.session_id FROM agent_sessions s WHERE s.external_id = find_sessions.external_id
      ORDER BY s.updated_at DESC LIMIT wanted);
  ELSE
    found := ARRAY(SELECT s.session_id FROM agent_sessions s WHERE s.metadata @> find_sessions.metadata
      ORDER BY s.updated_at DESC LIMIT wanted);
  END IF;
  PERFORM note_operator_read('find_sessions', jsonb_strip_nulls(jsonb_build_object('externalId', find_sessions.external_id,
    'executionId', find_sessions.execution_id, 'idempotencyKey', find_sessions.idempotency_key, 'metadata', find_sessions.metadata,
    'sessionId', find_sessions.by_session_id, 'runId', find_sessions.run_id, 'messageId', event_of_message,
    'foundIn', (SELECT jsonb_agg(DISTINCT s.tenant_id) FROM agent_sessions s WHERE s.session_id = ANY (found)))));
  RETURN QUERY SELECT s.tenant_id, s.session_id, COALESCE(s.lease_expires_at, s.wake_at) FROM agent_sessions s
    WHERE s.session_id = ANY (found) ORDER BY s.updated_at DESC LIMIT wanted;
END
$$`;
}
