/*
 * What every commit reads once it has the session's lock. As the caller: of a role of ours row-level security holds.
 *
 * A function, since a connection keeps the plans of a function's statements and plans what it is sent anew each time: the reading itself
 * takes a fraction of what parsing, rewriting by the policies of eight tables and planning take.
 *
 * The plan that is kept is one for any session, made by whoever comes first, when the tables may hold next to nothing and every index costs
 * the same. It must be the right one still when they are full. So no table is read through; what belongs to a row found is a subquery of
 * one row, which is no join that could be turned round; and where an index on something else would fit as well (the tenant of a session,
 * the other executions of one), the first id from the one wanted on is asked for, in the order of the index that is wanted. Open questions
 * are asked for in the order of their index, since those on the open ones of a tenant and on all of a session would fit.
 *
 * VOLATILE, as functions are by default: its query sees what is committed when it begins, not when the statement around it did.
 */

/** The transition of the session under that event id: the first from it on, which is that one or another. */
const transitionFrom = (
  schema: string,
  session: string,
  eventId: string,
) => `SELECT a.* FROM ${schema}.agent_transitions a
      WHERE a.session_id = ${session} AND a.event_id >= ${eventId} ORDER BY a.event_id LIMIT 1`;

/** Evidence that is news: of an execution that is not known to have succeeded, and not taken before. */
function untakenSql(schema: string): string {
  return `SELECT count(*)::int FROM (
        SELECT v.session_id, v.execution_id, 'evidence:' || v.evidence_id AS event_id FROM ${schema}.agent_tool_evidence v
          WHERE v.session_id = s.session_id OFFSET 0) v
        LEFT JOIN LATERAL (${transitionFrom(schema, 'v.session_id', 'v.event_id')}) taken ON taken.event_id = v.event_id
        WHERE taken.event_id IS NULL AND (SELECT x.status FROM ${schema}.agent_tool_executions x
          WHERE x.session_id = v.session_id AND x.execution_id >= v.execution_id ORDER BY x.execution_id LIMIT 1) <> 'SUCCESS'`;
}

/** What commits call. */
export function commitFunctionsSql(schema: string): string[] {
  return [
    `CREATE FUNCTION ${schema}.read_under_lock(tenant_id text, session_id uuid, event_id text) RETURNS TABLE (
  session ${schema}.agent_sessions,
  seen_sequence int, seen_from varchar(32), seen_to varchar(32), seen_type varchar(64), seen_run_id uuid, seen_payload jsonb,
  inbox_has_rows boolean, inbox_waiting int, inbox_news int, inbox_is_given_up boolean, evidence_count int, has_controls boolean,
  open_questions jsonb
) LANGUAGE plpgsql ROWS 1 SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
  RETURN QUERY SELECT s.row, t.sequence, t.from_state, t.to_state, t.event, t.run_id,
      (SELECT p.payload FROM ${schema}.agent_transition_payloads p WHERE p.session_id = s.session_id AND p.sequence = t.sequence),
      COALESCE((SELECT true FROM ${schema}.agent_inbox a WHERE a.session_id = s.session_id LIMIT 1), false),
      i.waiting, i.news, i.is_given_up,
      (${untakenSql(schema)}),
      EXISTS (SELECT FROM ${schema}.agent_controls c WHERE c.tenant_id IS NULL)
        OR EXISTS (SELECT FROM ${schema}.agent_controls c WHERE c.tenant_id = read_under_lock.tenant_id),
      (SELECT jsonb_object_agg(q.execution_id, q.approval_id) FROM (SELECT a.execution_id, a.approval_id FROM ${schema}.agent_approvals a
        WHERE a.session_id = s.session_id AND a.decision IS NULL ORDER BY a.approval_id OFFSET 0) q)
    FROM (SELECT o AS row, o.session_id FROM ${schema}.agent_sessions o
      WHERE o.tenant_id = read_under_lock.tenant_id AND o.session_id >= read_under_lock.session_id ORDER BY o.session_id LIMIT 1) s
    LEFT JOIN LATERAL (${transitionFrom(schema, 's.session_id', 'read_under_lock.event_id')}) t ON t.event_id = read_under_lock.event_id
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE w.kind = 'message')::int AS waiting,
          count(*) FILTER (WHERE w.noted_at IS NULL)::int AS news,
          COALESCE(bool_or(w.kind = 'cancel'), false) AS is_given_up
        FROM ${schema}.agent_inbox w WHERE w.session_id = s.session_id AND w.rejected_at IS NULL) i
    WHERE s.session_id = read_under_lock.session_id;
END
$$`,
  ];
}
