import { isTurnlockError, TurnlockError } from '../errors.ts';
import type { SessionKey } from '../persistence/read-session.ts';

/** Why there is nothing to retry, in words that help; any other error as it is. */
export function notFailed({ sessionId }: SessionKey, error: unknown): unknown {
  if (!isTurnlockError(error, 'EVENT_ILLEGAL')) return error;
  const { state } = error.details;
  return new TurnlockError('EVENT_ILLEGAL', {
    message: `session has no failed run: ${sessionId} (found ${state}, wanted FAILED)`,
    hint: 'Send a message to begin a run; where one is under way or waits, `explain` says for what.',
    details: { ...error.details, sessionId },
    cause: error,
  });
}
