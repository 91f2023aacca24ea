import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/**
 * Refuses what still waits for a session that is COMPLETED: a message whose transaction began before and committed after. The rows say
 * so; no transition does, since COMPLETED takes none. In any other state nothing happens.
 */
export async function rejectAfterCompletion(store: Store, { tenantId, sessionId }: SessionKey): Promise<void> {
  await inPatientTransaction(store, { tenantId, lockedSessionId: sessionId }, (em) =>
    em.execute(
      `update turnlock.agent_inbox i set rejected_at = turnlock.turnlock_now(), rejected_code = 'SESSION_COMPLETED'
        where i.session_id = ? and i.rejected_at is null
          and exists (select from turnlock.agent_sessions s where s.session_id = i.session_id and s.current_state = 'COMPLETED')`,
      [sessionId],
    ),
  );
}
