import { isTurnlockError, TurnlockError } from '../errors.ts';
import { extendLease } from '../persistence/extend-lease.ts';
import type { DriveContext } from './drive-context.ts';

/**
 * Extends the lease of a drive by heartbeat until the returned function is called. When another holder has it by now, `onLost` is
 * called once: the effects must stop, and the database refuses their commits anyway. A heartbeat that the database did not answer is
 * tried again at the next beat; commits extend the lease as well.
 */
export function keepLease(drive: DriveContext, onLost: (reason: TurnlockError) => void): () => void {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, drive.signal]);
  void beat(drive, signal, onLost);
  return () => over.abort();
}

async function beat(drive: DriveContext, signal: AbortSignal, onLost: (reason: TurnlockError) => void): Promise<void> {
  const { environment, limits, store, session, holder, token } = drive;
  const { tenantId, sessionId } = session;
  while (!signal.aborted) {
    await environment.sleep(limits.heartbeatMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    try {
      await environment.faultPoint('beforeHeartbeat', { sessionId });
      if (await extendLease(store, { tenantId, sessionId, holder, token }, limits.leaseMs)) continue;
      if (!signal.aborted) onLost(leaseLost(sessionId));
      return;
    } catch (error) {
      if (!isTurnlockError(error)) return;
    }
  }
}

function leaseLost(sessionId: string): TurnlockError {
  return new TurnlockError('TOKEN_STALE', { message: `lease is lost: session ${sessionId} (found another holder)` });
}
