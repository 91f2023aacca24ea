import type { EntityManager } from '@mikro-orm/postgresql';
import { isTurnlockError, TurnlockError } from '../errors.ts';
import type { Json, Normalised } from '../machines/event-content.ts';
import { SESSION_MACHINE_ID, SESSION_MACHINE_VERSION } from '../machines/session.machine.ts';
import { encodeSnapshot, initialSnapshot } from '../machines/snapshot-codec.ts';
import type { CommittedSession } from './committed-session.ts';
import { AgentSession } from './entities/agent-session.entity.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import { readDatabaseNow } from './read-database-now.ts';
import { toCommittedSession } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** What a new session is made of: checked and normalised. */
export interface NewSession {
  sessionId: string;
  tenantId: string;
  userId: string;
  externalId: string | null;
  agentName: string;
  agentVersion: number;
  modelId: string;
  metadata: { [name: string]: Json };
  normalised: Normalised;
}

/**
 * Inserts a session: IDLE, version 0, token 0, no lease, no transition, in one commit. With an external id that the tenant has used,
 * the session of then is returned, also when two processes create it in the same instant. A COMMIT whose answer is lost is looked up by
 * the session's id.
 *
 * @throws EXTERNAL_ID_CONFLICT when that session belongs to another agent or user.
 */
export async function createSession(store: Store, session: NewSession): Promise<CommittedSession> {
  const { tenantId } = session;
  for (;;) {
    const existing = await findExisting(store, session);
    if (existing !== null) return existing;
    try {
      return await inPatientTransaction(store, { tenantId }, async (em, attempt) => {
        const written = attempt > 1 ? await em.findOne(AgentSession, { sessionId: session.sessionId }) : null;
        return written === null ? insert(em, session) : toCommittedSession(written);
      });
    } catch (error) {
      // Somebody was first: its session is looked at anew, and may have been removed meanwhile.
      if (!isTurnlockError(error, 'EXTERNAL_ID_CONFLICT')) throw error;
    }
  }
}

async function insert(em: EntityManager, session: NewSession): Promise<CommittedSession> {
  const createdAt = await readDatabaseNow(em);
  const { modelId, ...columns } = session;
  const row = em.create(AgentSession, {
    ...columns,
    activeModelId: modelId,
    currentState: 'IDLE',
    machineId: SESSION_MACHINE_ID,
    machineVersion: SESSION_MACHINE_VERSION,
    snapshot: encodeSnapshot(initialSnapshot()),
    version: 0,
    leaseToken: 0,
    recoveries: 0,
    depth: 0,
    createdAt,
    updatedAt: createdAt,
  });
  await em.persist(row).flush();
  return toCommittedSession(row);
}

async function findExisting(store: Store, session: NewSession): Promise<CommittedSession | null> {
  const { tenantId, externalId } = session;
  if (externalId === null) return null;
  const found = await findByExternalId(store, { tenantId, externalId });
  if (found === null) return null;
  if (found.agentName === session.agentName && found.userId === session.userId) return found;
  throw new TurnlockError('EXTERNAL_ID_CONFLICT', {
    message: `external id is taken: ${JSON.stringify(externalId)} (found a session of another agent or user)`,
    details: { externalId, sessionId: found.sessionId },
  });
}

/** The session that `tenantId` knows as `externalId`, or `null`. */
export async function findByExternalId(
  store: Store,
  { tenantId, externalId }: { tenantId: string; externalId: string },
): Promise<CommittedSession | null> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const row = await em.findOne(AgentSession, { tenantId, externalId });
    return row === null ? null : toCommittedSession(row);
  });
}
