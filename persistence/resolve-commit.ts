import { isTurnlockError, TurnlockError } from '../errors.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/**
 * Whether the event of a commit whose answer was lost is in the database.
 *
 * It takes the same advisory lock, so the lost transaction has ended before this one reads; and it writes (a logical message, no row),
 * so that its own COMMIT waits for the synchronous standby: a transition that it reports is as durable as an acknowledged one.
 *
 * @throws COMMIT_UNKNOWN when the database does not answer within `lockTimeoutMs`.
 */
export async function findCommittedEvent(store: Store, request: SessionKey & { eventId: string }): Promise<boolean> {
  const { tenantId, sessionId, eventId } = request;
  try {
    return await inPatientTransaction(
      store,
      { tenantId, lockedSessionId: sessionId },
      async (em) => {
        const rows = (await em.execute(
          'select 1 as found from turnlock.agent_transitions where session_id = ? and event_id = ?',
          [sessionId, eventId],
        )) as unknown[];
        if (store.database.kind === 'postgres') {
          await em.execute(`select pg_logical_emit_message(true, 'turnlock', 'resolve')`);
        }
        return rows.length > 0;
      },
      store.limits.lockTimeoutMs,
    );
  } catch (cause) {
    throw isTurnlockError(cause) ? stillUnknown(request, cause) : cause;
  }
}

function stillUnknown({ sessionId, eventId }: SessionKey & { eventId: string }, cause: unknown): TurnlockError {
  return new TurnlockError('COMMIT_UNKNOWN', {
    message: `commit has no answer: event ${eventId} of session ${sessionId} (found no connection to ask, wanted an answer)`,
    details: { sessionId, eventId },
    cause,
  });
}
