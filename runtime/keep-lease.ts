import { isTurnlockError, TurnlockError } from '../errors.ts';
import type { CommitResult } from '../persistence/commit-request.ts';
import { extendLease } from '../persistence/extend-lease.ts';
import type { DriveContext } from './drive-context.ts';
import { isInterrupt, noteMessage } from './note-message.ts';
import type { Wake } from './wake.ts';

/** What a heartbeat may find. Each is told once at most, and ends it. */
export interface HeartbeatFindings {
  /** Another holder has the lease by now: the effects must stop, and the database refuses their commits anyway. */
  onLost(reason: TurnlockError): void;
  /** The run is over by a commit of this process: a message that came past the lock interrupted it, or the parent gave it up. */
  onInterrupted(by: CommitResult): void;
}

/**
 * Extends the lease of a drive by heartbeat until the returned function is called, and hears what came past the session's lock meanwhile
 * and cannot wait for the run's next commit. `wake` makes it beat at once. A heartbeat that the database did not answer is tried again at
 * the next beat; commits extend the lease as well.
 */
export function keepLease(drive: DriveContext, wake: Wake, found: HeartbeatFindings): () => void {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, drive.signal]);
  void beat(drive, { wake, signal }, found);
  return () => over.abort();
}

async function beat(
  drive: DriveContext,
  { wake, signal }: { wake: Wake; signal: AbortSignal },
  found: HeartbeatFindings,
): Promise<void> {
  const { environment, limits, store, session, holder, token } = drive;
  const { tenantId, sessionId } = session;
  while (!signal.aborted) {
    await wake.wait(environment, limits.heartbeatMs, signal);
    if (signal.aborted) return;
    try {
      await environment.faultPoint('beforeHeartbeat', { sessionId });
      const lease = await extendLease(store, { tenantId, sessionId, holder, token }, limits.leaseMs);
      if (signal.aborted) return;
      if (lease === null) return found.onLost(leaseLost(sessionId));
      const noted = lease.isCalled ? await noteMessage(drive) : null;
      if (noted !== null && isInterrupt(noted)) return found.onInterrupted(noted);
    } catch (error) {
      if (!isTurnlockError(error)) return;
    }
  }
}

function leaseLost(sessionId: string): TurnlockError {
  return new TurnlockError('TOKEN_STALE', { message: `lease is lost: session ${sessionId} (found another holder)` });
}
