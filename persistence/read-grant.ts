import type { AskedContent } from '../machines/event-content.ts';
import type { Approver } from './approver-rule.ts';
import { askedBefore } from './hold-starts.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';
import { findRound } from './write-rounds.ts';

/** A person's leave that nobody used yet. */
export interface Grant extends Approver {
  /** Digest of the params that were seen. */
  digest: string;
  /** What was asked. */
  asked: AskedContent;
}

/** The leave that a person gave for the execution and that nobody used yet; `null` where the last word about it is none. */
export async function readGrant(
  store: Store,
  { tenantId, sessionId }: SessionKey,
  executionId: string,
): Promise<Grant | null> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const round = await findRound(em, { tenantId, sessionId }, executionId);
    const asked = askedBefore(round);
    if (round === null || asked === undefined || round.consumedAt != null) return null;
    return { by: round.decidedBy ?? '', roles: round.decidedRoles ?? [], digest: round.argsDigest, asked };
  });
}

/** Whether a person let the execution run, for the first time or once more: that is the last word about it. */
export async function hasLeave(
  store: Store,
  { tenantId, sessionId }: SessionKey,
  executionId: string,
): Promise<boolean> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const round = await findRound(em, { tenantId, sessionId }, executionId);
    return round?.decision === 'granted' || (round?.kind === 'unknown' && round.decision === 'settled');
  });
}
