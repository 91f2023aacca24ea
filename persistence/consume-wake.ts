import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/**
 * Forgets a wake of a session at rest that was due and led to nothing, so that no sweep finds it again before the next question expires.
 * Raises no version.
 */
export async function consumeWake(store: Store, { tenantId, sessionId }: SessionKey): Promise<void> {
  await inPatientTransaction(store, { tenantId, lockedSessionId: sessionId }, (em) =>
    em.execute(
      `update turnlock.agent_sessions s set wake_at = (
          select min(a.expires_at) from turnlock.agent_approvals a where a.session_id = s.session_id and a.decision is null)
        where s.session_id = ? and s.tenant_id = ? and s.wake_at <= turnlock.turnlock_now()
          and s.current_state in ('IDLE', 'AWAITING_INPUT', 'FAILED')`,
      [sessionId, tenantId],
    ),
  );
}
