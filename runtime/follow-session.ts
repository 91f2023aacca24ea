import type { SessionKey } from '../persistence/read-session.ts';
import { readTransitions, type StoredTransition } from '../persistence/read-transitions.ts';
import type { Followed, FollowOptions } from './followed.ts';
import type { Services } from './services.ts';
import { DeltaQueue } from './working-state/delta-queue.ts';

/** How soon a session that another process drives is looked at again, in milliseconds: after news, and at the most after a while without. */
const POLL_MS = 200;
const MAX_POLL_MS = 1_000;

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
  for await (const followed of follow(services, key, { after, signal, deltas: false })) {
    if (followed.type === 'transition') yield followed.transition;
  }
}

/** The same with the pieces of answers that are being written, as far as the channel for them reaches, each between the transitions where it belongs. */
export async function* follow(
  services: Services,
  key: SessionKey,
  { after, signal, deltas }: Required<FollowOptions>,
): AsyncGenerator<Followed, void> {
  const { store, live, operations } = services;
  const queue = new DeltaQueue(store.limits.maxDeltaBytes);
  const unwatch = deltas ? live.deltas.watch(key, queue.push) : () => undefined;
  try {
    let pollMs = POLL_MS;
    for (let last = after; !signal.aborted; ) {
      const over = new AbortController();
      const until = AbortSignal.any([signal, over.signal]);
      // Before the look: what is committed while it goes on is seen by the next one.
      const committed = live.whenCommitted(key.sessionId, until);
      try {
        const page = { after: last, limit: PAGE };
        // `close` waits for the read; after it there is none.
        const found = await operations
          .run(() => readTransitions(store, key, page))
          .catch((error: unknown) => {
            if (signal.aborted) return [];
            throw error;
          });
        for (const transition of found) {
          yield* queue.before(transition);
          if (signal.aborted) return;
          last = transition.sequence;
          yield { type: 'transition', transition };
        }
        if (found.length > 0) {
          pollMs = POLL_MS;
          continue;
        }
        const lookAgain = Promise.race([committed, store.environment.sleep(pollMs, until).catch(() => undefined)]);
        yield* deltasUntil(services, queue, lookAgain, last);
        pollMs = Math.min(1.5 * pollMs, MAX_POLL_MS);
      } finally {
        over.abort();
      }
    }
  } finally {
    unwatch();
  }
}

/** The pieces that come before the next look is due. */
async function* deltasUntil(
  { store }: Services,
  queue: DeltaQueue,
  lookAgain: Promise<unknown>,
  last: number,
): AsyncGenerator<Followed, void> {
  const due = new AbortController();
  const isDue = lookAgain.then(() => due.abort());
  while (!due.signal.aborted) {
    yield* queue.take(last);
    if (due.signal.aborted) break;
    await queue.wake.wait(store.environment, POLL_MS, due.signal);
  }
  await isDue;
}
