import { isTurnlockError, TurnlockError } from '../errors.ts';
import { forgetGivenUp } from '../persistence/child-cancel.ts';
import type { CommitResult } from '../persistence/commit-request.ts';
import type { DriveContext } from './drive-context.ts';

/**
 * Takes note of what came from outside the session's lock: a message, which may interrupt, or that the parent gave the run up. `null`: by
 * now there is nothing to take note of. Whoever calls stops the drive where it {@link isInterrupt}.
 *
 * @throws TOKEN_STALE when the run is over, or another worker has the session.
 */
export async function noteMessage(drive: DriveContext): Promise<CommitResult | null> {
  const { tenantId, sessionId, depth } = drive.session;
  const { holder, token, environment, limits } = drive;
  // Under the lease: where the session rests by now, the message would begin a run that nobody drives.
  const claim = { type: 'hold', holder, token, leaseMs: limits.leaseMs } as const;
  const key = { tenantId, sessionId, eventId: environment.uuid(), cause: 'user' } as const;
  return drive.actor.commit({ ...key, event: { type: 'drainInbox' }, claim }).catch(async (error: unknown) => {
    if (!isTurnlockError(error, 'EVENT_ILLEGAL')) throw error;
    if (depth > 0) await forgetGivenUp(drive.store, drive.session);
    return null;
  });
}

/** Whether a message, or the parent, ended the run under way. */
export function isInterrupt({ repeated, transition }: CommitResult): boolean {
  return !repeated && transition.event.type === 'run.cancelled';
}

/** Why the effects of a run stop that was interrupted. */
export function runCancelled(sessionId: string): TurnlockError {
  return new TurnlockError('RUN_CANCELLED', { message: `run was cancelled: session ${sessionId}` });
}
