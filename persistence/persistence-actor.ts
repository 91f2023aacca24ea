import {
  type ActorLogic,
  type ActorSystem,
  type ActorSystemInfo,
  createActor,
  type EventObject,
  type Snapshot,
} from 'xstate';
import { commitEvent } from './commit-event.ts';
import type { CommitRequest, CommitResult } from './commit-request.ts';
import type { CommittedSession } from './committed-session.ts';
import { refuseReentrance } from './reentrance.ts';
import type { Store } from './session-transaction.ts';

/** What the actor takes: a request to commit, and the news that one was committed. */
type PersistenceEvent =
  | { type: 'commit.requested'; request: CommitRequest; settle: Settle }
  | { type: 'commit.done'; result: CommitResult };

interface Settle {
  resolve(result: CommitResult): void;
  reject(error: unknown): void;
}

/** The actor's snapshot: the session as it was last committed, never a state that is not in the database. */
export type PersistenceSnapshot = Snapshot<CommitResult> & { session: CommittedSession; last: CommitResult | null };

/** One live session of this process: its mailbox is the queue in which the session's events commit. */
export interface PersistenceActor {
  /** Takes one event after all that were handed in earlier. Resolves when it is durable; rejects with nothing written. */
  commit(request: CommitRequest): Promise<CommitResult>;
  /** The session as last committed by this actor. */
  committed(): CommittedSession;
  /** Calls `listener` after each commit of this actor, in order, until the returned function is called. */
  subscribe(listener: (result: CommitResult) => void): () => void;
  /** Ends the actor once all that was handed in has come to its end, so that nobody who listens misses a commit. Nothing is handed in after it. */
  stop(): void;
}

/**
 * Starts the actor of a session. Each event is one transaction, one after the other; a failed one leaves the snapshot as it was.
 * Subscribers, parents and inspectors of the underlying XState actor see committed states only.
 */
export function createPersistenceActor(store: Store, session: CommittedSession): PersistenceActor {
  const actor = createActor(persistenceLogic(store), { input: session }).start();
  let latest: Promise<unknown> = Promise.resolve();
  return {
    commit: (request) => {
      const committed = new Promise<CommitResult>((resolve, reject) => {
        refuseReentrance(); // it would wait in the queue behind the commit that waits for it
        actor.send({ type: 'commit.requested', request, settle: { resolve, reject } });
      });
      const before = latest;
      latest = committed.then(
        () => before,
        () => before,
      );
      return committed;
    },
    committed: () => actor.getSnapshot().session,
    subscribe: (listener) => {
      let { last } = actor.getSnapshot();
      const subscription = actor.subscribe((snapshot) => {
        if (snapshot.last === last || snapshot.last === null) return;
        last = snapshot.last;
        listener(last);
      });
      return () => subscription.unsubscribe();
    },
    // A heartbeat may commit what it heard while the drive ends: a stopped actor would take no news of it.
    stop: () => void latest.then(() => actor.stop()),
  };
}

type Logic = ActorLogic<
  PersistenceSnapshot,
  PersistenceEvent,
  CommittedSession,
  ActorSystem<ActorSystemInfo>,
  EventObject
>;

function persistenceLogic(store: Store): Logic {
  let queue: Promise<void> = Promise.resolve();
  return {
    getInitialSnapshot: (_scope, session) => ({
      status: 'active',
      output: undefined,
      error: undefined,
      session,
      last: null,
    }),
    transition: (snapshot, event, { self }) => {
      if (event.type === 'commit.done') return { ...snapshot, session: event.result.session, last: event.result };
      // XState's own events, such as that of stop(), are none of ours.
      if (event.type !== 'commit.requested') return snapshot;
      queue = queue.then(() =>
        commitEvent(store, event.request).then(
          (result) => {
            self.send({ type: 'commit.done', result });
            event.settle.resolve(result);
          },
          (error: unknown) => event.settle.reject(error),
        ),
      );
      return snapshot;
    },
    getPersistedSnapshot: (snapshot) => snapshot,
  };
}
