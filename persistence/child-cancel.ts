import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** Whether the parent of a child said that it gave the call up, and no commit of the child did anything about it yet. */
export async function isGivenUp(store: Store, { tenantId, sessionId }: SessionKey): Promise<boolean> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const rows = await em.execute(
      `select 1 as given_up from turnlock.agent_inbox where session_id = ? and tenant_id = ? and kind = 'cancel' limit 1`,
      [sessionId, tenantId],
    );
    return (rows as unknown[]).length > 0;
  });
}

/**
 * Forgets that a run was given up which has ended by itself, so that no sweep finds its session again. Call it when the session's own
 * commit found nothing to cancel: under the lock it is asked again whether the run is under way or waits.
 */
export async function forgetGivenUp(store: Store, { tenantId, sessionId }: SessionKey): Promise<void> {
  await inPatientTransaction(store, { tenantId, lockedSessionId: sessionId }, (em) =>
    em.execute(
      `delete from turnlock.agent_inbox i using turnlock.agent_sessions s
        where i.session_id = ? and i.tenant_id = ? and i.kind = 'cancel' and s.session_id = i.session_id
          and not (s.current_state in ('PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT')
            and s.snapshot -> 'context' ->> 'runId' = i.run_id::text)
          and not exists (select from turnlock.agent_inbox m where m.session_id = i.session_id and m.run_id = i.run_id
            and m.kind = 'message' and m.rejected_at is null)`,
      [sessionId, tenantId],
    ),
  );
}
