import { isTurnlockError, type TurnlockError } from '../errors.ts';
import type { Json } from '../machines/event-content.ts';
import { type OpenCall, waitsForPerson } from '../machines/open-calls.ts';
import type { SessionState } from '../machines/session-state.ts';
import type { ForkOrigin, ParentCall } from './committed-session.ts';
import type { AgentSessionRow } from './entities/agent-session.entity.ts';
import { readDatabaseNow } from './read-database-now.ts';
import { findSession, forkOriginOf, parentOf, type SessionKey, toCommittedSession } from './read-session.ts';
import { inTransaction, type Store } from './session-transaction.ts';

/** A session's row for people: readable also where this build cannot go on with it. */
export interface SessionOverview extends SessionKey {
  userId: string;
  externalId: string | null;
  agent: string;
  agentVersion: number;
  modelId: string;
  /** The call of another session that this one answers; `null` where it is nobody's child. */
  parent: ParentCall | null;
  /** The session whose history it began with; `null` where it is no fork. */
  forkedFrom: ForkOrigin | null;
  /** The sessions that began with its history, oldest first; a hundred at the most. */
  forks: { sessionId: string; turnIndex: number }[];
  state: SessionState;
  /** When it came into this state. */
  since: Date;
  version: number;
  token: number;
  leaseHolder: string | null;
  leaseExpiresAt: Date | null;
  recoveries: number;
  wakeAt: Date | null;
  runId: string | null;
  /** Executions that wait for a person, in call order. */
  waiting: { executionId: string; reason: 'unknown' | 'approval' | 'answer' }[];
  metadata: { [name: string]: Json };
  createdAt: Date;
  updatedAt: Date;
  /** Why this build cannot go on with it: the snapshot does not parse, or is another version's. */
  problem: TurnlockError | null;
  /** The database's time. */
  now: Date;
}

/** @throws SESSION_NOT_FOUND when the tenant has no such session. */
export async function readSessionOverview(store: Store, key: SessionKey): Promise<SessionOverview> {
  return inTransaction(store, { tenantId: key.tenantId }, async (em) => {
    const row = await findSession(em, key);
    const [entered] = (await em.execute(
      `select (extract(epoch from created_at) * 1000)::bigint::text as at from turnlock.agent_transitions
        where session_id = ? and from_state <> to_state order by sequence desc limit 1`,
      [key.sessionId],
    )) as { at: string }[];
    const forks = (await em.execute(
      `select session_id as "sessionId", fork_origin_turn_index as "turnIndex" from turnlock.agent_sessions
        where tenant_id = ? and fork_origin_session_id = ? order by created_at, session_id limit 100`,
      [key.tenantId, key.sessionId],
    )) as SessionOverview['forks'];
    const since = entered === undefined ? row.createdAt : new Date(Number(entered.at));
    return { ...key, ...columnsOf(row), ...snapshotOf(row), forks, since, now: await readDatabaseNow(em) };
  });
}

function columnsOf(row: AgentSessionRow) {
  return {
    userId: row.userId,
    externalId: row.externalId ?? null,
    agent: row.agentName,
    agentVersion: row.agentVersion,
    modelId: row.activeModelId,
    parent: parentOf(row),
    forkedFrom: forkOriginOf(row),
    state: row.currentState as SessionState,
    version: row.version,
    token: row.leaseToken,
    leaseHolder: row.leaseHolder ?? null,
    leaseExpiresAt: row.leaseExpiresAt ?? null,
    recoveries: row.recoveries,
    wakeAt: row.wakeAt ?? null,
    metadata: row.metadata as SessionOverview['metadata'],
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

function snapshotOf(row: AgentSessionRow): Pick<SessionOverview, 'runId' | 'waiting' | 'problem'> {
  try {
    const { state, snapshot } = toCommittedSession(row);
    const { runId, calls } = snapshot.context;
    const waiting = state === 'AWAITING_INPUT' ? calls.filter(waitsForPerson).map(toWaiting) : [];
    return { runId, waiting, problem: null };
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    return { runId: null, waiting: [], problem: error };
  }
}

function toWaiting({ executionId, waitsFor }: OpenCall): SessionOverview['waiting'][number] {
  return { executionId, reason: waitsFor ?? 'unknown' };
}
