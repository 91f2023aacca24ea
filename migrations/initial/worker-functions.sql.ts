import { strandedFunctionSql, strandedSql } from './stranded.sql.ts';

/*
 * Sessions that owe work and that nobody acts for: by the moment since when. Four reads, each by a partial index, so that a table full
 * of sleeping sessions costs nothing:
 *
 * 1. at work (PLANNING, EXECUTING_TOOL): due when the lease ends; without a lease at the wake, and without a wake at once;
 * 2. at rest with a wake that is due (a timer, an expiry, late evidence, a decision);
 * 3. at rest with a message in the inbox: in IDLE any, in AWAITING_INPUT one that no commit of the session noted yet, in COMPLETED one
 *    that nobody answered. FAILED keeps its inbox until it is retried. A parent that sleeps while its children work is as good as at rest;
 * 4. whose parent gave the run up, whoever is at work on it.
 *
 * `build`: what the caller knows, as of `strandedSql`: only sessions of its agents that are not newer than it; NULL for any. What is newer is
 * passed over here, so that it takes no place of a bounded answer. `excluding`: sessions that the caller found it cannot act for.
 * `(SELECT turnlock_now())` and not `turnlock_now()`: a volatile function in WHERE is a filter over every row, this is an index condition.
 */
const AT_WORK = `SELECT s.tenant_id, s.session_id, COALESCE(s.lease_expires_at, s.wake_at, s.updated_at) FROM agent_sessions s
    WHERE s.current_state IN ('PLANNING', 'EXECUTING_TOOL')
      AND COALESCE(s.lease_expires_at, s.wake_at, s.updated_at) <= (SELECT turnlock_now())
      AND CALLER
    ORDER BY COALESCE(s.lease_expires_at, s.wake_at, s.updated_at)`;

const WOKEN = `SELECT s.tenant_id, s.session_id, GREATEST(s.wake_at, s.lease_expires_at) FROM agent_sessions s
    WHERE s.wake_at <= (SELECT turnlock_now())
      AND s.current_state IN ('IDLE', 'AWAITING_INPUT', 'FAILED')
      AND (s.lease_expires_at IS NULL OR s.lease_expires_at <= (SELECT turnlock_now()))
      AND CALLER
    ORDER BY s.wake_at`;

const WRITTEN_TO = `SELECT s.tenant_id, s.session_id, i.since FROM agent_sessions s
    JOIN (SELECT session_id, min(created_at) AS since, bool_or(noted_at IS NULL) AS has_news FROM agent_inbox
      WHERE rejected_at IS NULL AND kind = 'message' GROUP BY session_id) i ON i.session_id = s.session_id
    WHERE (s.current_state IN ('IDLE', 'COMPLETED') OR (s.current_state = 'AWAITING_INPUT' AND i.has_news)
        OR (s.current_state = 'EXECUTING_TOOL' AND i.has_news AND s.lease_holder IS NULL AND s.wake_at IS NOT NULL))
      AND (s.lease_expires_at IS NULL OR s.lease_expires_at <= (SELECT turnlock_now()))
      AND (s.wake_at IS NULL OR s.wake_at > (SELECT turnlock_now()) OR s.current_state = 'COMPLETED')
      AND CALLER
    ORDER BY i.since`;

const GIVEN_UP = `SELECT s.tenant_id, s.session_id, i.created_at FROM agent_inbox i JOIN agent_sessions s ON s.session_id = i.session_id
    WHERE i.kind = 'cancel' AND CALLER
    ORDER BY i.created_at`;

/**
 * Each read gives as many as are wanted, and of all these the longest due: one kind after the other would let a flood of the first keep the
 * last from ever being found. `locking` comes after each read, so up to four times as many rows are locked, for the moment that a claim takes.
 */
function owedSql(schema: string, name: string, locking: string): string {
  const known = `${name}.build -> 'agents' -> s.agent_name IS NOT NULL AND ${strandedSql(`${name}.build`)} IS NULL`;
  const caller = `s.session_id <> ALL (${name}.excluding) AND (${name}.build IS NULL OR (${known}))`;
  const read = (query: string) => `SELECT * FROM (${query.replace('CALLER', () => caller)}
    LIMIT wanted${locking}) found`;
  return `CREATE FUNCTION ${schema}.${name}(
  max_sessions int, build jsonb DEFAULT NULL, excluding uuid[] DEFAULT '{}'::uuid[]
) RETURNS TABLE (tenant_id varchar(64), session_id uuid, due_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ${schema}, pg_temp AS $$
#variable_conflict use_column
DECLARE
  wanted int := LEAST(GREATEST(${name}.max_sessions, 0), 1000);
BEGIN
  RETURN QUERY ${[AT_WORK, WOKEN, WRITTEN_TO, GIVEN_UP].map(read).join('\n  UNION ALL ')}
  ORDER BY 3
  LIMIT wanted;
END
$$`;
}

/**
 * What workers call across tenants: tenant, session and due time, nothing else. `claim_sessions` keeps the rows locked until its transaction
 * ends and skips those that others have locked, so that workers do not all go for the same; `sweep_sessions` only looks.
 * A claim is a hint: the takeover that follows takes the session's lock, reads again and decides.
 */
export function workerFunctionsSql(schema: string): string[] {
  return [
    owedSql(schema, 'claim_sessions', ' FOR NO KEY UPDATE OF s SKIP LOCKED'),
    owedSql(schema, 'sweep_sessions', ''),
    strandedFunctionSql(schema),
    // Open rounds of asking of which the host's hook was not told yet.
    `CREATE FUNCTION ${schema}.unannounced_rounds(max_rounds int, excluding uuid[] DEFAULT '{}'::uuid[])
RETURNS TABLE (tenant_id varchar(64), session_id uuid, approval_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, ${schema}, pg_temp AS $$
  SELECT a.tenant_id, a.session_id, a.approval_id FROM agent_approvals a
    WHERE a.decision IS NULL AND a.announced_at IS NULL AND a.approval_id <> ALL (excluding)
    ORDER BY a.requested_at LIMIT LEAST(GREATEST(max_rounds, 0), 1000)
$$`,
    // When the next session becomes due that is not due yet; NULL when nothing is planned.
    `CREATE FUNCTION ${schema}.next_due_at() RETURNS timestamptz
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, ${schema}, pg_temp AS $$
  SELECT LEAST(
    (SELECT min(COALESCE(lease_expires_at, wake_at, updated_at)) FROM agent_sessions
      WHERE current_state IN ('PLANNING', 'EXECUTING_TOOL')
        AND COALESCE(lease_expires_at, wake_at, updated_at) > (SELECT turnlock_now())),
    (SELECT wake_at FROM agent_sessions WHERE wake_at > (SELECT turnlock_now())
      AND current_state IN ('IDLE', 'AWAITING_INPUT', 'FAILED') ORDER BY wake_at LIMIT 1))
$$`,
  ];
}
