import type { EntityManager } from '@mikro-orm/postgresql';
import { isTurnlockError } from '../errors.ts';
import { decodeSnapshot } from '../machines/snapshot-codec.ts';
import type { Build } from './build.ts';
import { UNTAKEN_EVIDENCE } from './evidence.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import { sessionNotFound } from './read-session.ts';
import type { Store } from './session-transaction.ts';
import type { Standing, StandingCall, StandingInbox, StandingRound } from './standing.ts';

/** Which sessions of one tenant, and what they are compared with. */
export interface StandingsQuery {
  tenantId: string;
  sessionIds: readonly string[];
  /** Absent: nothing is compared. */
  build?: Build | undefined;
}

const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;

/** What a snapshot may hold that does not parse is no list of calls. */
const NAMED = `(select c ->> 'executionId' from jsonb_array_elements(
    case jsonb_typeof(s.snapshot #> '{context,calls}') when 'array' then s.snapshot #> '{context,calls}' else '[]' end) c)`;

const CALLS = `select json_agg(json_build_object('executionId', e.execution_id, 'toolName', e.tool_name, 'status', e.status,
    'attempt', e.attempt, 'effect', e.effect, 'deadlineMs', ${ms('e.deadline_at')}, 'retryMs', ${ms('e.retry_at')},
    'unknownReason', e.unknown_reason, 'idempotencyKey', e.idempotency_key, 'errorCode', e.error_code, 'errorMessage', e.error_message,
    'hasChildSession', exists (select from turnlock.agent_sessions c where c.parent_execution_id = e.execution_id))
    order by e.ordinal)::text as calls
  from turnlock.agent_tool_executions e
 where e.session_id = s.session_id and (e.status in ('PENDING', 'RUNNING') or e.execution_id::text in ${NAMED})`;

const ROUNDS = `select json_agg(json_build_object('executionId', a.execution_id, 'kind', a.kind, 'requestedMs', ${ms('a.requested_at')},
    'expiresMs', ${ms('a.expires_at')}, 'isAnnounced', a.announced_at is not null, 'controls', coalesce(a.controls, '[]'))
    order by a.requested_at, a.approval_id)::text as rounds
  from turnlock.agent_approvals a where a.session_id = s.session_id and a.decision is null`;

const INBOX = `select json_build_object('waiting', count(*) filter (where i.kind = 'message'),
    'sinceMs', ${ms("min(i.created_at) filter (where i.kind = 'message')")},
    'newsMs', ${ms("min(i.created_at) filter (where i.kind = 'message' and i.noted_at is null)")},
    'givenUpMs', ${ms("min(i.created_at) filter (where i.kind = 'cancel')")})::text as inbox
  from turnlock.agent_inbox i where i.session_id = s.session_id and i.rejected_at is null`;

/*
 * One statement, so that what it says of a session was true at one moment: a commit is seen whole or not at all, and no lock is taken.
 * Shown by “beside running workers nothing is found” of the doctor's tests.
 */
const STANDINGS = `select s.session_id, s.agent_name, s.agent_version, s.machine_id, s.machine_version, s.current_state, s.version,
    s.lease_token, s.lease_holder, ${ms('s.lease_expires_at')} as lease_ms, s.recoveries, ${ms('s.wake_at')} as wake_ms,
    ${ms('s.updated_at')} as updated_ms, s.snapshot::text as snapshot, ${ms('turnlock.turnlock_now()')} as now_ms,
    case when ?::jsonb is not null and s.current_state <> 'COMPLETED' then turnlock.why_stranded(s.session_id, ?::jsonb) end as stranded,
    c.calls, r.rounds, i.inbox, u.turns, u.last_turn, t.transitions, l.sequence, l.to_state, l.token, v.evidence_ms
  from turnlock.agent_sessions s
  cross join lateral (${CALLS}) c
  cross join lateral (${ROUNDS}) r
  cross join lateral (${INBOX}) i
  cross join lateral (select count(*)::int as turns, max(turn_index) as last_turn from turnlock.agent_turns where session_id = s.session_id) u
  cross join lateral (select count(*)::int as transitions from turnlock.agent_transitions where session_id = s.session_id) t
  cross join lateral (select ${ms('min(v.created_at)')} as evidence_ms from ${UNTAKEN_EVIDENCE}) v
  left join lateral (select sequence, to_state, token from turnlock.agent_transitions where session_id = s.session_id
    order by sequence desc limit 1) l on true
 where s.tenant_id = ? and s.session_id = any (?::uuid[])
 order by s.session_id`;

/** How sessions of one tenant stand; those that the tenant has not are left out. In the caller's transaction. */
export async function readStandings(
  em: EntityManager,
  { tenantId, sessionIds, build }: StandingsQuery,
): Promise<Standing[]> {
  const known = build === undefined ? null : JSON.stringify(build);
  const rows = (await em.execute(STANDINGS, [known, known, tenantId, `{${sessionIds.join(',')}}`])) as Row[];
  return rows.map((row) => toStanding(tenantId, row));
}

/** How one session stands. @throws SESSION_NOT_FOUND when the tenant has no such session. */
export async function readStanding(store: Store, key: SessionKey, build?: Build): Promise<Standing> {
  const { tenantId, sessionId } = key;
  const [standing] = await inPatientTransaction(store, { tenantId }, (em) =>
    readStandings(em, { tenantId, sessionIds: [sessionId], build }),
  );
  if (standing === undefined) throw sessionNotFound(key);
  return standing;
}

type Row = Record<string, unknown>;

function toStanding(tenantId: string, row: Row): Standing {
  return {
    tenantId,
    sessionId: row.session_id as string,
    agent: row.agent_name as string,
    agentVersion: row.agent_version as number,
    machineVersion: row.machine_version as number,
    state: row.current_state as Standing['state'],
    version: row.version as number,
    token: row.lease_token as number,
    leaseHolder: row.lease_holder as string | null,
    leaseExpiresAt: toDate(row.lease_ms),
    recoveries: row.recoveries as number,
    wakeAt: toDate(row.wake_ms),
    updatedAt: new Date(row.updated_ms as number),
    ...snapshotOf(row),
    stranded: row.stranded as Standing['stranded'],
    calls: listOf(row.calls).map(toCall),
    rounds: listOf(row.rounds).map(toRound),
    inbox: toInbox(JSON.parse(row.inbox as string) as Row),
    turns: { count: row.turns as number, lastIndex: row.last_turn as number | null },
    transitions: {
      count: row.transitions as number,
      lastSequence: (row.sequence as number | null) ?? 0,
      lastState: row.to_state as string | null,
      lastToken: (row.token as number | null) ?? 0,
    },
    evidenceSince: toDate(row.evidence_ms),
    now: new Date(row.now_ms as number),
  };
}

function snapshotOf(row: Row): Pick<Standing, 'snapshot' | 'problem'> {
  const { machine_id, machine_version, current_state, snapshot } = row;
  try {
    const stored = { machineId: machine_id as string, machineVersion: machine_version as number };
    const decoded = decodeSnapshot({
      ...stored,
      currentState: current_state as string,
      snapshot: JSON.parse(snapshot as string),
    });
    return { snapshot: decoded, problem: null };
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    return { snapshot: null, problem: error };
  }
}

function toCall({ deadlineMs, retryMs, ...call }: Row): StandingCall {
  return { ...(call as unknown as StandingCall), deadlineAt: toDate(deadlineMs), retryAt: toDate(retryMs) };
}

function toRound({ requestedMs, expiresMs, ...round }: Row): StandingRound {
  const times = { requestedAt: new Date(requestedMs as number), expiresAt: toDate(expiresMs) };
  return { ...(round as unknown as StandingRound), ...times };
}

function toInbox({ waiting, sinceMs, newsMs, givenUpMs }: Row): StandingInbox {
  const times = { since: toDate(sinceMs), newsSince: toDate(newsMs), givenUpSince: toDate(givenUpMs) };
  return { waiting: waiting as number, ...times };
}

function listOf(text: unknown): Row[] {
  return text === null ? [] : (JSON.parse(text as string) as Row[]);
}

function toDate(value: unknown): Date | null {
  return value === null || value === undefined ? null : new Date(value as number);
}
