import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';
import { findRound } from './write-rounds.ts';

/** Whether a person has granted the execution with these params, and nobody used that yet. */
export async function hasGrant(
  store: Store,
  { tenantId, sessionId }: SessionKey,
  { executionId, digest }: { executionId: string; digest: string },
): Promise<boolean> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const round = await findRound(em, { tenantId, sessionId }, executionId);
    return round?.decision === 'granted' && round.consumedAt == null && round.argsDigest === digest;
  });
}
