import { raiseFromCall } from './raise.sql.ts';
import { lockKeySql, MAX_BATCH } from './retention-functions.sql.ts';

/*
 * Erasing what one user said, and what was said of it. Rows stay, and with them ids, states, times, counts, digests and keys; contents go.
 * The chain of a session hashes digests, not contents, and their salts go with the payloads, so it still verifies.
 *
 * Only what is over is erased: whoever erases ends sessions first, by commits of their own.
 */

/**
 * What operators looked for and found in this tenant, where it names the session by what is the user's. In which tenants they found something
 * stays: who has a session erased does not hide that it looked into another's.
 */
const OPERATORS_LOOKED = `UPDATE agent_operator_reads
      SET criteria = jsonb_build_object('erased', true, 'foundIn', criteria -> 'foundIn')
      WHERE function_name = 'find_sessions' AND criteria -> 'foundIn' ? session.tenant_id::text
        AND (criteria ->> 'externalId' = session.external_id
          OR (criteria -> 'metadata' <> '{}'::jsonb AND session.metadata @> (criteria -> 'metadata')))`;

const CONTENTS = [
  `UPDATE agent_turns SET content = NULL, parts = '[]'::jsonb, metadata = '{}'::jsonb, normalised = NULL WHERE session_id = wanted`,
  `UPDATE agent_tool_executions SET input_parameters = '{}'::jsonb, upgraded_parameters = NULL, output_payload = NULL, error_code = NULL,
      error_message = NULL, raw_input = NULL, provider_call_id = NULL, settled_by = NULL, normalised = NULL, metadata = '{}'::jsonb WHERE session_id = wanted`,
  'UPDATE agent_approvals SET question = NULL, reason = NULL, decided_by = NULL, decided_roles = NULL, approvers = NULL WHERE session_id = wanted',
  'DELETE FROM agent_tool_evidence WHERE session_id = wanted',
  'DELETE FROM agent_inbox WHERE session_id = wanted',
  `UPDATE agent_model_calls SET finish_reason = NULL, error_code = NULL, error_message = NULL, provider_request_id = NULL, memories = '[]'::jsonb WHERE session_id = wanted`,
  `UPDATE agent_idempotency_claims c SET output_payload = NULL, user_id = 'erased ' || wanted FROM agent_tool_executions e
      WHERE e.session_id = wanted AND c.tenant_id = e.tenant_id AND c.execution_id = e.execution_id`,
  'DELETE FROM agent_memory_tasks WHERE tenant_id = session.tenant_id AND session_id = wanted',
];

/** What is carried along of each: joined afterwards, a planner that thinks the family large walks through every session. */
const MEMBER = (of: string) => `${of}.tenant_id, ${of}.session_id, ${of}.current_state, ${of}.erased_at`;

/** What operators call to erase one user. */
export function erasureFunctionsSql(schema: string): string[] {
  const settings = `SECURITY DEFINER SET search_path = pg_catalog, ${schema}, pg_temp`;
  return [
    // The user's sessions, and those that came of them by calls of agents or as forks; the ones furthest down first, so that who goes on after
    // an interruption still finds the way to them.
    `CREATE FUNCTION ${schema}.list_erasable(of_tenant text, of_user text)
RETURNS TABLE (tenant_id varchar(64), session_id uuid, current_state varchar(32))
LANGUAGE plpgsql ${settings} AS $$
#variable_conflict use_column
BEGIN
  PERFORM note_operator_read('list_erasable', jsonb_build_object('tenantId', list_erasable.of_tenant));
  RETURN QUERY WITH RECURSIVE family AS (
      SELECT ${MEMBER('s')}, 0 AS distance FROM agent_sessions s
        WHERE s.tenant_id = list_erasable.of_tenant AND s.user_id = list_erasable.of_user
      UNION ALL
      SELECT ${MEMBER('below')}, f.distance + 1 FROM family f CROSS JOIN LATERAL (
        SELECT ${MEMBER('c')} FROM agent_sessions c WHERE c.parent_session_id = f.session_id
        UNION SELECT ${MEMBER('c')} FROM agent_sessions c WHERE c.fork_origin_session_id = f.session_id) below)
    SELECT f.tenant_id, f.session_id, f.current_state FROM family f
      WHERE f.erased_at IS NULL GROUP BY 1, 2, 3 ORDER BY max(f.distance) DESC, f.session_id;
END
$$`,
    // Each session is locked and erased whole, or left alone where somebody holds it or it is not over. Answers with those that were, and how many memories of
    // each went.
    `CREATE FUNCTION ${schema}.erase_sessions(of_tenant text, session_ids uuid[], erased_by text)
RETURNS TABLE (tenant_id varchar(64), session_id uuid, due_at timestamptz, memories int)
LANGUAGE plpgsql ${settings} SET lock_timeout = '1s' AS $$
#variable_conflict use_column
DECLARE
  wanted uuid;
  session ${schema}.agent_sessions;
  erased uuid[] := '{}';
BEGIN
  IF COALESCE(erase_sessions.erased_by, '') = '' OR char_length(erase_sessions.erased_by) > 255
     OR COALESCE(cardinality(erase_sessions.session_ids), 0) > ${MAX_BATCH} THEN
    ${raiseFromCall({ code: 'TL060', name: 'argument_invalid' }, `erase_sessions takes who asks for it, 1 to 255 characters, and at most ${MAX_BATCH} sessions`)}
  END IF;
  FOREACH wanted IN ARRAY erase_sessions.session_ids LOOP
    CONTINUE WHEN NOT pg_try_advisory_xact_lock(${lockKeySql('wanted')});
    SELECT s.* INTO session FROM agent_sessions s WHERE s.session_id = wanted AND s.tenant_id = erase_sessions.of_tenant
      AND s.current_state = 'COMPLETED' AND s.erased_at IS NULL FOR UPDATE SKIP LOCKED;
    CONTINUE WHEN NOT FOUND;
    UPDATE agent_transition_payloads p SET salt = NULL, payload = NULL, erased_at = turnlock_now() FROM agent_transitions t
      WHERE p.session_id = wanted AND p.erased_at IS NULL AND t.session_id = p.session_id AND t.sequence = p.sequence
        AND t.event <> 'content.erased';
    ${OPERATORS_LOOKED};
    UPDATE agent_sessions SET erased_at = turnlock_now(), user_id = 'erased ' || wanted, external_id = NULL, metadata = '{}'::jsonb,
      normalised = NULL WHERE session_id = wanted;
    ${CONTENTS.join(';\n    ')};
    DELETE FROM agent_memories WHERE tenant_id = session.tenant_id AND session_id = wanted;
    GET DIAGNOSTICS memories = ROW_COUNT;
    erased := erased || wanted;
    tenant_id := session.tenant_id;
    session_id := wanted;
    due_at := session.updated_at;
    RETURN NEXT;
  END LOOP;
  IF erased <> '{}' THEN
    PERFORM note_operator_read('erase_sessions', jsonb_build_object('tenantId', erase_sessions.of_tenant, 'by', erase_sessions.erased_by,
      'sessionIds', to_jsonb(erased)));
  END IF;
END
$$`,
    // What is the user's and in no session: memories, and keys whose sessions are gone. At most so many rows of each.
    `CREATE FUNCTION ${schema}.erase_left(of_tenant text, of_user text, max_rows int DEFAULT 1000, OUT memories int, OUT claims int)
LANGUAGE plpgsql ${settings} AS $$
#variable_conflict use_column
DECLARE
  most int := LEAST(GREATEST(erase_left.max_rows, 0), 10000);
BEGIN
  DELETE FROM agent_memories WHERE tenant_id = erase_left.of_tenant AND user_id = erase_left.of_user
    AND memory_id IN (SELECT memory_id FROM agent_memories
      WHERE tenant_id = erase_left.of_tenant AND user_id = erase_left.of_user LIMIT most);
  GET DIAGNOSTICS memories = ROW_COUNT;
  UPDATE agent_idempotency_claims c SET output_payload = NULL, user_id = 'erased ' || gen_random_uuid() FROM (
      SELECT tenant_id, tool_name, key_digest FROM agent_idempotency_claims
        WHERE tenant_id = erase_left.of_tenant AND user_id = erase_left.of_user LIMIT most) old
    WHERE (c.tenant_id, c.tool_name, c.key_digest) = (old.tenant_id, old.tool_name, old.key_digest);
  GET DIAGNOSTICS claims = ROW_COUNT;
  IF memories + claims > 0 THEN
    PERFORM note_operator_read('erase_left', jsonb_build_object('tenantId', erase_left.of_tenant, 'memories', memories, 'claims', claims));
  END IF;
END
$$`,
  ];
}
