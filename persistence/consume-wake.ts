import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** Forgets a wake of a session at rest that was due and led to nothing, so that no sweep finds it again. Raises no version. */
export async function consumeWake(store: Store, { tenantId, sessionId }: SessionKey): Promise<void> {
  await inPatientTransaction(store, { tenantId, lockedSessionId: sessionId }, (em) =>
    em.execute(
      `update turnlock.agent_sessions set wake_at = null
        where session_id = ? and tenant_id = ? and wake_at <= turnlock.turnlock_now()
          and current_state in ('IDLE', 'AWAITING_INPUT', 'FAILED')`,
      [sessionId, tenantId],
    ),
  );
}
