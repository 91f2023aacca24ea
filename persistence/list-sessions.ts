import type { SessionState } from '../machines/session-state.ts';
import type { Build } from './build.ts';
import type { ForkOrigin } from './committed-session.ts';
import { AgentSession, type AgentSessionRow } from './entities/agent-session.entity.ts';
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

/** Which sessions are listed. */
export interface SessionsQuery {
  tenantId: string;
  state?: SessionState;
  /** Only those that are newer than `build`. */
  stranded?: boolean;
  /** Only forks of this session. */
  forkOf?: string;
  /** How many at the most. */
  limit: number;
  /** What is compared for `stranded`. Default: nothing. */
  build?: Build;
}

/** Columns of the statement that are no columns of the session. */
interface Found extends Record<string, unknown> {
  stranded: Stranded | null;
}

/** The sessions of one tenant, last changed first. */
export async function listSessions(store: Store, query: SessionsQuery): Promise<SessionSummary[]> {
  const { tenantId, state = null, stranded = false, forkOf = null, limit, build } = query;
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const found = (await em.execute(
      `select s.*, w.stranded from turnlock.agent_sessions s
        cross join lateral (select case when s.current_state <> 'COMPLETED'
          then turnlock.why_stranded(s.session_id, ?::jsonb) end as stranded) w
        where s.tenant_id = ? and (?::text is null or s.current_state = ?::text) and (w.stranded is not null or not ?::boolean)
          and (?::uuid is null or s.fork_origin_session_id = ?::uuid)
        order by s.updated_at desc, s.session_id limit ?`,
      [build === undefined ? '{}' : JSON.stringify(build), tenantId, state, state, stranded, forkOf, forkOf, limit],
    )) as Found[];
    return found.map(({ stranded: why, ...columns }) => summaryOf(em.map(AgentSession, columns), why));
  });
}

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
