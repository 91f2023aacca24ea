import type { SessionKey } from '../../../persistence/read-session.ts';
import { readTransitions, type StoredTransition } from '../../../persistence/read-transitions.ts';
import type { Store } from '../../../persistence/session-transaction.ts';
import type { LiveSessions } from '../../../runtime/live-sessions.ts';

/** How often a session that another process drives is looked at, in milliseconds: a person watches, nothing waits for it. */
const POLL_MS = 1_000;

/** Transitions that are read at once. */
const PAGE = 100;

/**
 * The committed transitions of a session after the sequence `after`, each once and in order, whichever process commits them: at once those
 * that `live` drives, the others by looking. Needs no runtime, unlike `followSession`. Ends when `signal` aborts.
 *
 * @throws DATABASE_UNREACHABLE when the database stays away.
 */
export async function* followCommitted(
  { store, live }: { store: Store; live: Pick<LiveSessions, 'whenCommitted'> | null },
  key: SessionKey,
  { after, signal }: { after: number; signal: AbortSignal },
): AsyncGenerator<StoredTransition, void> {
  for (let last = after; !signal.aborted; ) {
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    // Before the look: what is committed while it goes on is seen by the next one.
    const committed = live?.whenCommitted(key.sessionId, until);
    try {
      const found = await readTransitions(store, key, { after: last, limit: PAGE });
      for (const transition of found) {
        if (signal.aborted) return;
        last = transition.sequence;
        yield transition;
      }
      if (found.length > 0) continue;
      const due = store.environment.sleep(POLL_MS, until).catch(() => undefined);
      await (committed === undefined ? due : Promise.race([committed, due]));
    } finally {
      over.abort();
    }
  }
}
