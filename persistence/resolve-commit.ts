import { TurnlockError } from '../errors.ts';
import type { CommitRequest } from './commit-request.ts';
import { inTransaction, type Store } from './session-transaction.ts';

/** How often the resolution is tried before the caller is told that nobody knows. */
const MAX_TRIES = 5;

/**
 * Whether the event of a commit whose answer was lost is in the database.
 *
 * It takes the same advisory lock, so the lost transaction has ended before this one reads; and it writes (a logical message, no row),
 * so that its own COMMIT waits for the synchronous standby: a transition that it reports is as durable as an acknowledged one.
 *
 * @throws COMMIT_UNKNOWN when the database does not answer within the bound.
 */
export async function findCommittedEvent(store: Store, request: CommitRequest): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTransaction(
        store,
        { tenantId: request.tenantId, lockedSessionId: request.sessionId },
        async (em) => {
          const rows = (await em.execute(
            'select 1 as found from turnlock.agent_transitions where session_id = ? and event_id = ?',
            [request.sessionId, request.eventId],
          )) as unknown[];
          if (store.database.kind === 'postgres') {
            await em.execute(`select pg_logical_emit_message(true, 'turnlock', 'resolve')`);
          }
          return rows.length > 0;
        },
      );
    } catch (cause) {
      if (attempt >= MAX_TRIES) throw stillUnknown(request, cause);
      await store.environment.sleep(50 * 2 ** attempt);
    }
  }
}

function stillUnknown({ sessionId, eventId }: CommitRequest, cause: unknown): TurnlockError {
  return new TurnlockError('COMMIT_UNKNOWN', {
    message: `commit has no answer: event ${eventId} of session ${sessionId} (found no connection to ask, wanted an answer)`,
    details: { sessionId, eventId },
    cause,
  });
}
