import type { EntityManager } from '@mikro-orm/postgresql';
import { TurnlockError } from '../errors.ts';
import type { Json } from '../machines/event-content.ts';
import type { SessionState } from '../machines/session-state.ts';
import { decodeSnapshot } from '../machines/snapshot-codec.ts';
import type { CommittedSession, ForkOrigin, ParentCall } from './committed-session.ts';
import { AgentSession, type AgentSessionRow } from './entities/agent-session.entity.ts';

/** Which session. A session is never read without its tenant. */
export interface SessionKey {
  tenantId: string;
  sessionId: string;
}

/**
 * The session's row, managed by `em`.
 *
 * @throws SESSION_NOT_FOUND when no such session exists for that tenant: another tenant's answers the same.
 */
export async function findSession(em: EntityManager, { tenantId, sessionId }: SessionKey): Promise<AgentSessionRow> {
  const row = await em.findOne(AgentSession, { sessionId, tenantId });
  if (row !== null) return row;
  throw sessionNotFound({ tenantId, sessionId });
}

/** The same whether there is no such session or it is another tenant's. */
export function sessionNotFound({ tenantId, sessionId }: SessionKey): TurnlockError {
  return new TurnlockError('SESSION_NOT_FOUND', {
    message: `session not found: ${sessionId} (wanted one of tenant ${JSON.stringify(tenantId)})`,
    details: { sessionId, tenantId },
  });
}

/**
 * `row` as the runtime works with it.
 *
 * @throws SNAPSHOT_INVALID, MACHINE_VERSION_UNSUPPORTED when its snapshot is not one that this build can go on from.
 */
export function toCommittedSession(row: AgentSessionRow): CommittedSession {
  return {
    sessionId: row.sessionId,
    tenantId: row.tenantId,
    userId: row.userId,
    externalId: row.externalId ?? null,
    agentName: row.agentName,
    agentVersion: row.agentVersion,
    modelId: row.activeModelId,
    parent: parentOf(row),
    forkedFrom: forkOriginOf(row),
    depth: row.depth,
    state: row.currentState as SessionState,
    version: row.version,
    token: row.leaseToken,
    leaseHolder: row.leaseHolder ?? null,
    leaseExpiresAt: row.leaseExpiresAt ?? null,
    recoveries: row.recoveries,
    wakeAt: row.wakeAt ?? null,
    snapshot: decodeSnapshot(row),
    metadata: row.metadata as { [name: string]: Json },
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

/** The call that a session answers; `null` for one that is nobody's child, or whose parent is gone. */
export function parentOf({ parentSessionId, parentExecutionId }: AgentSessionRow): ParentCall | null {
  if (parentSessionId == null || parentExecutionId == null) return null;
  return { sessionId: parentSessionId, executionId: parentExecutionId };
}

/** The session whose history a session began with; `null` for one that is no fork. */
export function forkOriginOf({ forkOriginSessionId, forkOriginTurnIndex }: AgentSessionRow): ForkOrigin | null {
  if (forkOriginTurnIndex == null) return null;
  return { sessionId: forkOriginSessionId ?? null, turnIndex: forkOriginTurnIndex };
}
