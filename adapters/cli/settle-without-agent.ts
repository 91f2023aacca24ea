import { isTurnlockError } from '../../errors.ts';
import { commitEvent } from '../../persistence/commit-event.ts';
import type { CommittedSession } from '../../persistence/committed-session.ts';
import type { SessionKey } from '../../persistence/read-session.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { checkUuid } from '../../persistence/values/check-uuid.ts';
import { checkSettlement, type Settlement, settledEvent, whyNotSettled } from '../../runtime/check-settlement.ts';

/**
 * Settles a call and leaves what follows to a process that knows the agent: any worker, or `turnlock recover`.
 *
 * @returns the session after the settlement.
 * @throws APPROVER_NOT_ALLOWED, APPROVAL_DECIDED, APPROVAL_STALE, EXECUTION_NOT_FOUND, EXECUTION_SETTLED, EXECUTION_RUNNING, OUTCOME_INVALID, VALUE_INVALID.
 */
export async function settleWithoutAgent(
  store: Store,
  key: SessionKey,
  executionId: string,
  settlement: Settlement,
): Promise<CommittedSession> {
  const checked = checkSettlement(settlement, store.limits);
  const id = checkUuid(executionId, 'executionId');
  try {
    const { session } = await commitEvent(store, {
      ...key,
      eventId: store.environment.uuid(),
      cause: 'operator',
      event: settledEvent(id, checked),
      claim: { type: 'none' },
    });
    return session;
  } catch (error) {
    if (!isTurnlockError(error, 'EVENT_ILLEGAL')) throw error;
    throw await whyNotSettled(store, key, id, error, checked.outcome);
  }
}
