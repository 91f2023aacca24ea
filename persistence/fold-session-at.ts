import { beginFold, type Fold, foldTransitions } from '../machines/fold-transitions.ts';
import { readAuditRows } from './audit/read-audit-rows.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import { type SessionKey, sessionNotFound } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** Transitions that are in memory at a time. */
const PAGE = 500;

/** Where a fold stood, which the fold of a later transition may go on from. */
export interface FoldedAt {
  sequence: number;
  /** The hash of that transition, so that what was written anew since is not gone on from; `''` for the begin. */
  hash: string;
  /** Before that transition, and after it. */
  before: Fold;
  after: Fold;
}

/**
 * Folds the recorded events of a session up to the transition `sequence`, page by page: what its snapshot was then. It runs nothing. `from`: a
 * fold of the same session to go on from, where the transition that it stands at is still the one that it was; the caller keeps it, as a fold
 * from the begin takes as long as the session is long. `keep`: told of every place on the way from which another fold could go on.
 *
 * @returns `null` where the session has no such transition.
 * @throws SESSION_NOT_FOUND when the tenant has no such session.
 */
export async function foldSessionAt(
  store: Store,
  key: SessionKey,
  { sequence, from = null, keep }: { sequence: number; from?: FoldedAt | null; keep?: (folded: FoldedAt) => void },
): Promise<FoldedAt | null> {
  let stand = (await isStill(store, key, sequence, from)) ?? (await begin(store, key));
  while (stand.sequence < sequence) {
    const page = { ...key, after: stand.sequence, upTo: sequence, limit: PAGE };
    const rows = await inPatientTransaction(store, key, (em) => readAuditRows(em, page));
    const last = rows.at(-1);
    if (last === undefined) return null;
    const folded = rows.map(({ payload, ...row }) => ({ ...row, event: payload?.event ?? null }));
    const before = foldTransitions(stand.after, folded.slice(0, -1));
    stand = { sequence: last.sequence, hash: last.hash, before, after: foldTransitions(before, folded.slice(-1)) };
    keep?.(stand);
  }
  return stand;
}

async function isStill(
  store: Store,
  key: SessionKey,
  sequence: number,
  from: FoldedAt | null,
): Promise<FoldedAt | null> {
  if (from === null || from.sequence > sequence) return null;
  const page = { ...key, after: from.sequence - 1, upTo: from.sequence };
  const [row] = await inPatientTransaction(store, key, (em) => readAuditRows(em, page));
  return row !== undefined && row.hash === from.hash && row.erasedAt === null ? from : null;
}

async function begin(store: Store, key: SessionKey): Promise<FoldedAt> {
  const [row] = await inPatientTransaction(
    store,
    key,
    async (em) =>
      (await em.execute(
        `select first_machine_version as version from turnlock.agent_sessions where tenant_id = ? and session_id = ?`,
        [key.tenantId, key.sessionId],
      )) as [{ version: number } | undefined],
  );
  if (row === undefined) throw sessionNotFound(key);
  const fold = beginFold(row.version);
  return { sequence: 0, hash: '', before: fold, after: fold };
}
