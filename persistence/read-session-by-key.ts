import type { CommittedSession } from './committed-session.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import { readDatabaseNow } from './read-database-now.ts';
import { readOpenExecutions } from './read-open-executions.ts';
import { findSession, type SessionKey, toCommittedSession } from './read-session.ts';
import type { ExecutionRow } from './row-changes.ts';
import type { Store } from './session-transaction.ts';

/** A session with its open executions and the database's time, all read in one transaction. */
export interface ReadSession {
  session: CommittedSession;
  executions: ExecutionRow[];
  now: Date;
}

/**
 * Reads a session as it is now.
 *
 * @throws SESSION_NOT_FOUND when the tenant has no such session.
 */
export async function readSession(store: Store, key: SessionKey): Promise<ReadSession> {
  return inPatientTransaction(store, { tenantId: key.tenantId }, async (em) => {
    const session = toCommittedSession(await findSession(em, key));
    const { executions } = await readOpenExecutions(em, session);
    return { session, executions, now: await readDatabaseNow(em) };
  });
}
