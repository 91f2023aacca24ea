import type { SessionKey } from '../persistence/read-session.ts';
import { readTransitions, type StoredTransition } from '../persistence/read-transitions.ts';
import type { Services } from './services.ts';

/** How often a session that another process drives is looked at, in milliseconds. */
const POLL_MS = 200;

/** Transitions that are read at once. */
const PAGE = 100;

/**
 * The committed transitions of a session after the sequence `after`, each once and in order, whichever process commits them: at once those
 * of this one, the others by looking. Ends when `signal` aborts.
 *
 * @throws DATABASE_UNREACHABLE when the database stays away; whoever follows goes on from the last sequence it was given.
 */
export async function* followSession(
  services: Services,
  key: SessionKey,
  { after, signal }: { after: number; signal: AbortSignal },
): AsyncGenerator<StoredTransition, void> {
  const { store, live } = services;
  for (let last = after; !signal.aborted; ) {
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    // Before the look: what is committed while it goes on is seen by the next one.
    const committed = live.whenCommitted(key.sessionId, until);
    try {
      const found = await readTransitions(store, key, { after: last, limit: PAGE });
      for (const transition of found) {
        if (signal.aborted) return;
        last = transition.sequence;
        yield transition;
      }
      if (found.length > 0) continue;
      await Promise.race([committed, store.environment.sleep(POLL_MS, until).catch(() => undefined)]);
    } finally {
      over.abort();
    }
  }
}
