import { isTurnlockError } from '../../errors.ts';
import type { FoldCode } from '../../machines/fold-transitions.ts';
import type { Finding } from '../audit/finding.ts';
import { verifySession } from '../audit/verify-session.ts';
import type { SessionKey } from '../read-session.ts';
import type { Store } from '../session-transaction.ts';
import type { Found } from './doctor-codes.ts';

/** What the fold finds; everything else is about chain, payloads and rows. */
const OF_THE_FOLD: Record<FoldCode, true> = {
  EVENT_ILLEGAL: true,
  EVENT_DIFFERS: true,
  STATE_DIFFERS: true,
  UPGRADE_DIFFERS: true,
  MACHINE_NEWER: true,
  SNAPSHOT_DIFFERS: true,
};

/** What is wrong with the audit of one session. One that was deleted meanwhile has nothing wrong. */
export async function checkAudit(store: Store, { tenantId, sessionId }: SessionKey): Promise<Found[]> {
  const key = { tenantId, sessionId };
  try {
    const { findings } = await verifySession(store, key);
    return findings.map((finding) => ({ ...key, ...toFound(finding) }));
  } catch (error) {
    if (isTurnlockError(error, 'SESSION_NOT_FOUND')) return [];
    throw error;
  }
}

function toFound({ code, sequence, found, wanted }: Finding): Found {
  // What is newer is no damage: a newer build examines it.
  if (code === 'MACHINE_NEWER') return { code: 'STRANDED', place: code, found, wanted };
  return {
    code: code in OF_THE_FOLD ? 'FOLD_DIFFERS' : 'CHAIN_BROKEN',
    place: sequence === null ? code : `transition ${sequence}, ${code}`,
    found,
    wanted,
  };
}
