import type { FoldedAt } from '../../../persistence/fold-session-at.ts';
import type { SessionKey } from '../../../persistence/read-session.ts';
import type { Store } from '../../../persistence/session-transaction.ts';

/** How many folds are kept of each store, and how many of one session: snapshots are small, so this is well under a megabyte. */
const MAX_KEPT = 256;
const MAX_OF_SESSION = 32;

const KEPT = new WeakMap<Store, Map<string, FoldedAt[]>>();

/** The last fold of the session that was kept and stands before the transition `sequence`, or at it; `null` where there is none. */
export function keptFold(store: Store, key: SessionKey, sequence: number): FoldedAt | null {
  const kept = KEPT.get(store)?.get(nameOf(key)) ?? [];
  const usable = kept.filter((one) => one.sequence <= sequence);
  return usable.reduce<FoldedAt | null>(
    (best, one) => (best === null || one.sequence > best.sequence ? one : best),
    null,
  );
}

/** Keeps a fold, so that going along the transitions of a long session does not begin anew each time. Those kept first go first. */
export function keepFold(store: Store, key: SessionKey, folded: FoldedAt): void {
  const sessions = KEPT.get(store) ?? new Map<string, FoldedAt[]>();
  KEPT.set(store, sessions);
  const name = nameOf(key);
  const kept = (sessions.get(name) ?? []).filter(({ sequence }) => sequence !== folded.sequence);
  sessions.delete(name); // it is put back as the last one
  sessions.set(name, [...kept, folded].slice(-MAX_OF_SESSION));
  for (let count = [...sessions.values()].reduce((sum, { length }) => sum + length, 0); count > MAX_KEPT; ) {
    const [oldest = '', folds = []] = sessions.entries().next().value ?? [];
    count -= folds.length;
    sessions.delete(oldest);
  }
}

function nameOf({ tenantId, sessionId }: SessionKey): string {
  return `${sessionId} ${tenantId}`;
}
