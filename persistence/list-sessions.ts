import type { SessionState } from '../machines/session-state.ts';
import { AgentSession } from './entities/agent-session.entity.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { Store } from './session-transaction.ts';

/** A line of a list of sessions. */
export interface SessionSummary {
  sessionId: string;
  tenantId: string;
  userId: string;
  externalId: string | null;
  agent: string;
  state: SessionState;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

/** The sessions of one tenant, last changed first. `limit`: how many at the most. */
export async function listSessions(
  store: Store,
  { tenantId, state, limit }: { tenantId: string; state?: SessionState; limit: number },
): Promise<SessionSummary[]> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const where = state === undefined ? { tenantId } : { tenantId, currentState: state };
    const rows = await em.find(AgentSession, where, { orderBy: { updatedAt: 'desc', sessionId: 'asc' }, limit });
    return rows.map((row) => ({
      sessionId: row.sessionId,
      tenantId: row.tenantId,
      userId: row.userId,
      externalId: row.externalId ?? null,
      agent: row.agentName,
      state: row.currentState,
      version: row.version,
      createdAt: row.createdAt,
      updatedAt: row.updatedAt,
    }));
  });
}
