import { raiseFromCall } from './raise.sql.ts';

/** Sessions that one call removes or erases, at most: as many ids are noted in one row. */
export const MAX_BATCH = 1_000;

/*
 * What may go, of a session `s`, by the rules of `policies`: `[{"state": …, "olderThanMs": …, "tenantId": … or absent}]`. A rule that names
 * the session's tenant counts before one that names none.
 *
 * At rest and owing nothing: no lease, no wake that is due, no message that an IDLE session would take. And nobody of its family at work: a
 * parent may still ask how its child ended, and a child has to tell its parent.
 *
 * `updated_at` is what the service's role writes, so it is asked first, by the row at hand, and does not decide: the last transition does,
 * whose time is the database's.
 */
const RULE = `CROSS JOIN LATERAL (
      SELECT rule AS policy, turnlock_now() - (rule ->> 'olderThanMs')::bigint * interval '1 millisecond' AS before FROM jsonb_array_elements(POLICIES) rule
        WHERE rule ->> 'state' = s.current_state AND COALESCE(rule ->> 'tenantId', s.tenant_id) = s.tenant_id
        ORDER BY rule ->> 'tenantId' NULLS LAST LIMIT 1) rule`;

const AT_WORK = `('PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT')`;

const REMOVABLE = `s.updated_at < rule.before AND s.current_state NOT IN ('PLANNING', 'EXECUTING_TOOL')
      AND NOT EXISTS (SELECT FROM agent_transitions t
        WHERE t.session_id = s.session_id AND t.sequence = s.version AND t.created_at >= rule.before)
      AND (s.lease_expires_at IS NULL OR s.lease_expires_at <= (SELECT turnlock_now()))
      AND (s.current_state = 'COMPLETED' OR s.wake_at IS NULL OR s.wake_at > (SELECT turnlock_now()))
      AND (s.current_state <> 'IDLE' OR NOT EXISTS (SELECT FROM agent_inbox i WHERE i.session_id = s.session_id AND i.rejected_at IS NULL))
      AND NOT EXISTS (SELECT FROM agent_sessions p WHERE p.session_id = s.parent_session_id AND p.current_state IN ${AT_WORK})
      AND NOT EXISTS (SELECT FROM agent_sessions c WHERE c.parent_session_id = s.session_id AND c.current_state IN ${AT_WORK})`;

const rule = (policies: string) => RULE.replace('POLICIES', () => policies);

/** Keys of sessions that are gone, unused for so long. */
const LEFT = (name: string) => `execution_id IS NULL
      AND updated_at < turnlock_now() - ${name}.older_than_ms * interval '1 millisecond'
      AND (${name}.of_tenant IS NULL OR tenant_id = ${name}.of_tenant)`;

/** Memories that are found no more, for so long: expired, or superseded. */
const FORGETTABLE = (name: string) => {
  const before = `(SELECT turnlock_now()) - ${name}.older_than_ms * interval '1 millisecond'`;
  return `(expires_at < ${before} OR superseded_at < ${before}) AND (${name}.of_tenant IS NULL OR tenant_id = ${name}.of_tenant)`;
};

/** 30 days. */
const MIN_READS_MS = 2_592_000_000;

/** What operators looked for, so long ago, and never less than 30 days: nobody hides at once what was done with an operator's rights. */
const LOOKED = (name: string) =>
  `created_at < turnlock_now() - GREATEST(${name}.older_than_ms, ${MIN_READS_MS}) * interval '1 millisecond'`;

/** The advisory lock of a session, as the runtime computes it: the first 8 bytes of SHA-256 over the JSON array of "lock" and the id. */
export function lockKeySql(id: string): string {
  return `('x' || encode(substring(sha256(convert_to('["lock","' || ${id}::text || '"]', 'UTF8')) FROM 1 FOR 8), 'hex'))::bit(64)::bigint`;
}

/**
 * What operators call to let old sessions go. Looking and removing are two statements, so that no lock is held while a page is gone
 * through. A removal takes what nobody holds and waits for nobody; whatever is being committed to is left for the next time.
 */
export function retentionFunctionsSql(schema: string): string[] {
  const settings = `SECURITY DEFINER SET search_path = pg_catalog, ${schema}, pg_temp`;
  const page = (tenant: string, order: string) => `RETURN QUERY
      SELECT s.tenant_id, s.session_id, s.current_state, EXISTS (SELECT FROM (SELECT 1) one ${rule('list_removable.policies')} WHERE ${REMOVABLE})
      FROM agent_sessions s WHERE ${tenant}(list_removable.after_session_id IS NULL OR s.session_id > list_removable.after_session_id)
      ORDER BY ${order} LIMIT LEAST(GREATEST(list_removable.max_examined, 1), 10000);`;
  return [
    // Page by page in the order of their ids: every session that is looked at, and whether it may go.
    `CREATE FUNCTION ${schema}.list_removable(
  policies jsonb, of_tenant text DEFAULT NULL, after_session_id uuid DEFAULT NULL, max_examined int DEFAULT 10000
) RETURNS TABLE (tenant_id varchar(64), session_id uuid, current_state varchar(32), is_removable boolean)
LANGUAGE plpgsql ${settings} AS $$
#variable_conflict use_column
BEGIN
  PERFORM note_operator_read('list_removable',
    jsonb_strip_nulls(jsonb_build_object('tenantId', list_removable.of_tenant, 'after', list_removable.after_session_id)));
  IF list_removable.of_tenant IS NULL THEN
    ${page('', 's.session_id')}
  ELSE
    ${page('s.tenant_id = list_removable.of_tenant AND ', 's.tenant_id, s.session_id')}
  END IF;
END
$$`,
    // Each session is locked, looked at again and removed with all its rows, or left alone. The transaction's end lets go of all locks. What
    // was removed is noted, a row for each tenant, state and policy, with the ids: it is all that is left to say that the session was there.
    `CREATE FUNCTION ${schema}.remove_sessions(session_ids uuid[], policies jsonb)
RETURNS TABLE (tenant_id varchar(64), session_id uuid, due_at timestamptz)
LANGUAGE plpgsql ${settings} SET lock_timeout = '1s' AS $$
#variable_conflict use_column
DECLARE
  wanted uuid;
  state text;
  policy jsonb;
  removed jsonb := '[]';
BEGIN
  IF COALESCE(cardinality(remove_sessions.session_ids), 0) > ${MAX_BATCH} THEN
    ${raiseFromCall({ code: 'TL060', name: 'argument_invalid' }, `remove_sessions takes at most ${MAX_BATCH} sessions`)}
  END IF;
  FOREACH wanted IN ARRAY remove_sessions.session_ids LOOP
    CONTINUE WHEN NOT pg_try_advisory_xact_lock(${lockKeySql('wanted')});
    SELECT s.tenant_id, s.session_id, s.updated_at, s.current_state, rule.policy
      INTO remove_sessions.tenant_id, remove_sessions.session_id, remove_sessions.due_at, state, policy
      FROM agent_sessions s ${rule('remove_sessions.policies')}
      WHERE s.session_id = wanted AND ${REMOVABLE} FOR UPDATE OF s SKIP LOCKED;
    CONTINUE WHEN NOT FOUND;
    DELETE FROM agent_sessions s WHERE s.session_id = wanted;
    removed := removed || jsonb_build_object('tenant', remove_sessions.tenant_id, 'state', state, 'policy', policy, 'id', wanted);
    RETURN NEXT;
  END LOOP;
  PERFORM note_operator_read('remove_sessions', jsonb_build_object('tenantId', one ->> 'tenant', 'state', one ->> 'state',
      'policy', one -> 'policy', 'sessionIds', jsonb_agg(one -> 'id')))
    FROM jsonb_array_elements(removed) one GROUP BY one ->> 'tenant', one ->> 'state', one -> 'policy';
END
$$`,
    `CREATE FUNCTION ${schema}.count_left_claims(older_than_ms bigint, of_tenant text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql ${settings} AS $$
#variable_conflict use_column
BEGIN
  RETURN (SELECT count(*) FROM agent_idempotency_claims WHERE ${LEFT('count_left_claims')});
END
$$`,
    // Business keys are only forgotten once the session of the call is gone; until then they answer for it.
    `CREATE FUNCTION ${schema}.remove_claims(older_than_ms bigint, of_tenant text DEFAULT NULL, max_claims int DEFAULT 1000) RETURNS int
LANGUAGE plpgsql ${settings} AS $$
#variable_conflict use_column
DECLARE
  removed int;
BEGIN
  DELETE FROM agent_idempotency_claims c USING (
      SELECT tenant_id, tool_name, key_digest FROM agent_idempotency_claims WHERE ${LEFT('remove_claims')}
        ORDER BY updated_at LIMIT LEAST(GREATEST(remove_claims.max_claims, 0), 10000) FOR UPDATE SKIP LOCKED) old
    WHERE (c.tenant_id, c.tool_name, c.key_digest) = (old.tenant_id, old.tool_name, old.key_digest);
  GET DIAGNOSTICS removed = ROW_COUNT;
  IF removed > 0 THEN PERFORM note_operator_read('remove_claims', jsonb_build_object('claims', removed)); END IF;
  RETURN removed;
END
$$`,
    `CREATE FUNCTION ${schema}.count_old_memories(older_than_ms bigint, of_tenant text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql ${settings} AS $$
BEGIN
  RETURN (SELECT count(*) FROM agent_memories WHERE ${FORGETTABLE('count_old_memories')});
END
$$`,
    `CREATE FUNCTION ${schema}.remove_memories(older_than_ms bigint, of_tenant text DEFAULT NULL, max_memories int DEFAULT 1000) RETURNS int
LANGUAGE plpgsql ${settings} AS $$
#variable_conflict use_column
DECLARE
  removed int;
BEGIN
  DELETE FROM agent_memories m USING (
      SELECT tenant_id, user_id, memory_id FROM agent_memories WHERE ${FORGETTABLE('remove_memories')}
        LIMIT LEAST(GREATEST(remove_memories.max_memories, 0), 10000) FOR UPDATE SKIP LOCKED) old
    WHERE (m.tenant_id, m.user_id, m.memory_id) = (old.tenant_id, old.user_id, old.memory_id);
  GET DIAGNOSTICS removed = ROW_COUNT;
  IF removed > 0 THEN PERFORM note_operator_read('remove_memories', jsonb_build_object('memories', removed)); END IF;
  RETURN removed;
END
$$`,
    `CREATE FUNCTION ${schema}.count_operator_reads(older_than_ms bigint) RETURNS bigint
LANGUAGE plpgsql ${settings} AS $$
BEGIN
  RETURN (SELECT count(*) FROM agent_operator_reads WHERE ${LOOKED('count_operator_reads')});
END
$$`,
    // Of the transaction's tenant and among these: who removed which session, and when.
    `CREATE FUNCTION ${schema}.removed_sessions(session_ids uuid[])
RETURNS TABLE (session_id uuid, removed_at timestamptz, removed_by varchar(64))
LANGUAGE plpgsql STABLE ${settings} AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT wanted, r.created_at, r.operator FROM unnest(removed_sessions.session_ids) wanted
    CROSS JOIN LATERAL (SELECT r.created_at, r.operator FROM agent_operator_reads r
      WHERE r.function_name = 'remove_sessions' AND r.criteria -> 'sessionIds' ? wanted::text
        AND r.criteria ->> 'tenantId' = nullif(current_setting('turnlock.tenant', true), '') LIMIT 1) r;
END
$$`,
    // That they were removed is noted like any other act.
    `CREATE FUNCTION ${schema}.remove_operator_reads(older_than_ms bigint, max_reads int DEFAULT 1000) RETURNS int
LANGUAGE plpgsql ${settings} AS $$
DECLARE
  removed int;
BEGIN
  DELETE FROM agent_operator_reads r USING (
      SELECT read_id FROM agent_operator_reads WHERE ${LOOKED('remove_operator_reads')}
        ORDER BY created_at LIMIT LEAST(GREATEST(remove_operator_reads.max_reads, 0), 10000) FOR UPDATE SKIP LOCKED) old
    WHERE r.read_id = old.read_id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  IF removed > 0 THEN PERFORM note_operator_read('remove_operator_reads', jsonb_build_object('reads', removed)); END IF;
  RETURN removed;
END
$$`,
  ];
}
