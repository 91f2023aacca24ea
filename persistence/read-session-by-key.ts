import type { EntityManager } from '@mikro-orm/postgresql';
import type { CommittedSession } from './committed-session.ts';
import type { OpenQuestions } from './open-questions.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import { readDatabaseNowOf } from './read-database-now.ts';
import { readOpenExecutions } from './read-open-executions.ts';
import { findSession, type SessionKey, toCommittedSession } from './read-session.ts';
import type { ExecutionRow } from './row-changes.ts';
import type { Store } from './session-transaction.ts';

/** A session with its open executions, what persons are asked about them, and the database's time, all read in one transaction. */
export interface ReadSession {
  session: CommittedSession;
  executions: ExecutionRow[];
  questions: OpenQuestions;
  now: Date;
}

/** How a session is read. */
export interface ReadOptions {
  /** Whether the session's lock is taken first, so that no commit falls between session and executions. Default false. */
  isLocked?: boolean;
  /** Milliseconds for which a read without an answer is asked again. Default: a caller's. */
  patienceMs?: number;
}

/**
 * Reads a session as it is now: session and executions are of one version, also where a commit falls between the two statements.
 *
 * @throws SESSION_NOT_FOUND when the tenant has no such session.
 */
export async function readSession(
  store: Store,
  { tenantId, sessionId }: SessionKey,
  { isLocked = false, patienceMs }: ReadOptions = {},
): Promise<ReadSession> {
  const scope = { tenantId, ...(isLocked ? { lockedSessionId: sessionId } : {}) };
  const read = async (em: EntityManager): Promise<ReadSession> => {
    for (;;) {
      const session = toCommittedSession(await findSession(em, { tenantId, sessionId }));
      const { executions } = await readOpenExecutions(em, session);
      const { now, version, questions } = await readDatabaseNowOf(em, { tenantId, sessionId });
      if (version === session.version) return { session, executions, questions, now };
      em.clear();
    }
  };
  return inPatientTransaction(store, scope, read, patienceMs);
}
