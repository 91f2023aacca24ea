import { TurnlockError } from '../errors.ts';
import type { CommitRequest } from '../persistence/commit-request.ts';

/** The commit by which a person takes a session from whoever holds it: the fencing token rises, and nobody holds it then. */
export function releasing(by: string): Pick<CommitRequest, 'event' | 'cause' | 'claim'> {
  return { event: { type: 'lease.released', by }, cause: 'operator', claim: { type: 'raise' } };
}

/** Why what is under way for the session in this process stops. */
export function leaseReleased(sessionId: string): TurnlockError {
  return new TurnlockError('TOKEN_STALE', {
    message: `lease was released by a person: session ${sessionId} (found nobody as holder)`,
  });
}
