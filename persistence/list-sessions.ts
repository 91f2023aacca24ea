import type { Json } from '../machines/event-content.ts';
import type { SessionState } from '../machines/session-state.ts';
import type { Build } from './build.ts';
import type { ForkOrigin } from './committed-session.ts';
import { AgentSession, type AgentSessionRow } from './entities/agent-session.entity.ts';
import { eventIdFromMessageId } from './keys/event-id-from-message-id.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import { forkOriginOf } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** What of a session is newer than a build that leaves it alone. */
export type Stranded = 'machine' | 'agent' | 'tool';

/** A line of a list of sessions. */
export interface SessionSummary {
  sessionId: string;
  tenantId: string;
  userId: string;
  externalId: string | null;
  agent: string;
  /** The newest version of the agent that has gone on with it. */
  agentVersion: number;
  state: SessionState;
  version: number;
  /**
   * What of it is newer than this build, so that this build leaves it alone: the session machine, the agent, or the tool of an open call.
   * `null` where nothing is, where the session is COMPLETED, and where this build has no such agent.
   */
  stranded: Stranded | null;
  /** The session whose history it began with; `null` where it is no fork. */
  forkedFrom: ForkOrigin | null;
  createdAt: Date;
  updatedAt: Date;
}

/** By what sessions are found. Each that is given must fit. */
export interface SessionCriteria {
  userId?: string;
  agent?: string;
  externalId?: string;
  /** What their metadata must hold, as JSON of any depth: `{ order: 42 }` finds `{ order: 42, lines: [ … ] }`. */
  metadata?: { [name: string]: Json };
  /** Of one of their tool executions. */
  executionId?: string;
  /** Of one of their tool executions. */
  idempotencyKey?: string;
  runId?: string;
  /** The caller's id of a message that has its turn, waits or was refused. */
  messageId?: string;
  /** Forks of this session. */
  forkOf?: string;
}

/** Which sessions are listed. */
export interface SessionsQuery extends SessionCriteria {
  tenantId: string;
  state?: SessionState;
  /** Only those that are newer than `build`. */
  stranded?: boolean;
  /** Only these. */
  sessionIds?: readonly string[];
  /** How many at the most. */
  limit: number;
  /** What is compared for `stranded`. Default: nothing. */
  build?: Build;
}

/** Columns of the statement that are no columns of the session. */
interface Found extends Record<string, unknown> {
  stranded: Stranded | null;
}

/** A condition of a statement over sessions `s`, with its values. */
export type Condition = [sql: string, ...values: unknown[]];

/** The sessions of one tenant, last changed first. */
export async function listSessions(store: Store, query: SessionsQuery): Promise<SessionSummary[]> {
  const { tenantId, limit, build } = query;
  const conditions = conditionsOf(query);
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const found = (await em.execute(
      `select s.*, w.stranded from turnlock.agent_sessions s
        cross join lateral (select case when s.current_state <> 'COMPLETED'
          then turnlock.why_stranded(s.session_id, ?::jsonb) end as stranded) w
        where ${conditions.map(([sql]) => sql).join(' and ')}
        order by s.updated_at desc, s.session_id limit ?`,
      [build === undefined ? '{}' : JSON.stringify(build), ...conditions.flatMap(([, ...values]) => values), limit],
    )) as Found[];
    return found.map(({ stranded: why, ...columns }) => summaryOf(em.map(AgentSession, columns), why));
  });
}

/**
 * Only what is asked for stands in the statement, so that each way has its index: metadata by containment, runs and messages by the
 * transition that they began or were noted with, and the inbox for those that wait. A test reads the plans.
 */
export function conditionsOf(query: Omit<SessionsQuery, 'limit'>): Condition[] {
  const { tenantId, state, stranded, sessionIds, forkOf, userId, agent, externalId, metadata } = query;
  const { executionId, idempotencyKey, runId, messageId } = query;
  const eventId = messageId === undefined ? null : eventIdFromMessageId(messageId);
  const all: (Condition | false)[] = [
    ['s.tenant_id = ?', tenantId],
    state !== undefined && ['s.current_state = ?', state],
    stranded === true && ['w.stranded is not null'],
    sessionIds !== undefined && ['s.session_id = any (?::uuid[])', `{${sessionIds.join(',')}}`],
    forkOf !== undefined && ['s.fork_origin_session_id = ?::uuid', forkOf],
    userId !== undefined && ['s.user_id = ?', userId],
    agent !== undefined && ['s.agent_name = ?', agent],
    externalId !== undefined && ['s.external_id = ?', externalId],
    metadata !== undefined && ['s.metadata @> ?::jsonb', JSON.stringify(metadata)],
    executionId !== undefined && [`s.session_id in (${OF_EXECUTION} where e.execution_id = ?)`, executionId],
    idempotencyKey !== undefined && [`s.session_id in (${OF_EXECUTION} where e.idempotency_key = ?)`, idempotencyKey],
    runId !== undefined && [`s.session_id in (${OF_RUN})`, runId, runId],
    messageId !== undefined && [`s.session_id in (${OF_MESSAGE})`, eventId, messageId],
  ];
  return all.filter((condition) => condition !== false);
}

const OF_EXECUTION = 'select e.session_id from turnlock.agent_tool_executions e';

const OF_RUN = `select t.session_id from turnlock.agent_transitions t where t.run_id = ? and t.event in ('user.messaged', 'session.retried')
  union select i.session_id from turnlock.agent_inbox i where i.run_id = ?`;

const OF_MESSAGE = `select t.session_id from turnlock.agent_transitions t where t.event in ('user.messaged', 'message.enqueued') and t.event_id = ?
  union select i.session_id from turnlock.agent_inbox i where i.message_id = ?`;

function summaryOf(row: AgentSessionRow, stranded: Stranded | null): SessionSummary {
  return {
    sessionId: row.sessionId,
    tenantId: row.tenantId,
    userId: row.userId,
    externalId: row.externalId ?? null,
    agent: row.agentName,
    agentVersion: row.agentVersion,
    state: row.currentState,
    version: row.version,
    stranded,
    forkedFrom: forkOriginOf(row),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
