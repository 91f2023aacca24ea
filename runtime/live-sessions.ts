import { isTurnlockError, type TurnlockError } from '../errors.ts';
import type { Limits } from '../limits.ts';
import { waitsForPerson } from '../machines/open-calls.ts';
import { isResting } from '../machines/session-state.ts';
import type { CommitResult } from '../persistence/commit-request.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import { releaseLease } from '../persistence/extend-lease.ts';
import { createPersistenceActor, type PersistenceActor } from '../persistence/persistence-actor.ts';
import { drainInbox } from './drain-inbox.ts';
import type { DriveContext } from './drive-context.ts';
import { driveSession } from './drive-session.ts';
import { keepEvidence } from './keep-evidence.ts';
import { keepLease } from './keep-lease.ts';
import { SessionMemory } from './memory/session-memory.ts';
import { runCancelled } from './note-message.ts';
import { observeRun } from './observe.ts';
import { attendChildren } from './recover.ts';
import { tellRelatives } from './relatives.ts';
import { RunFeed } from './run.ts';
import type { RunEvent } from './run-event.ts';
import { agentOf, inBackground, type Services } from './services.ts';
import { Wake } from './wake.ts';
import { LiveDeltas } from './working-state/live-deltas.ts';
import { RunScratchpad } from './working-state/run-scratchpad.ts';
import type { UsedChannel } from './working-state/used-channel.ts';

/** A session that this process drives at this moment. */
export interface Drive {
  runId: string;
  feed: RunFeed;
  /** The last commit when the session rests, or sleeps until its children wake it; `null` when somebody else decides its fate from now on. */
  ended: Promise<CommitResult | null>;
  /** The same of the last of the runs that follow from the inbox, one after the other; of this one when none does. */
  rested: Promise<CommitResult | null>;
  /** Stops the effects at once; what they return is not committed. */
  abort(reason: TurnlockError): void;
  /** Looks at once whether a message interrupts, instead of at the next heartbeat. */
  look(): void;
}

interface Live {
  actor: PersistenceActor;
  users: number;
  drive: Drive | null;
}

/** The sessions of this process that are being committed to or driven: one persistence actor each, gone when nobody uses it. */
export class LiveSessions {
  /** What models write at this moment. */
  readonly deltas: LiveDeltas;
  readonly #maxDeltaBytes: number;
  readonly #live = new Map<string, Live>();
  /** Feeds of runs that this process was told of before they began. */
  readonly #expected = new Map<string, RunFeed>();
  /** Told of each session of which a drive begins. */
  readonly #listeners = new Set<(sessionId: string) => unknown>();

  /** Told of each commit of a session in this process. */
  readonly #committed = new Map<string, Set<() => void>>();

  constructor(channel: UsedChannel, { maxDeltaBytes }: Pick<Limits, 'maxDeltaBytes'>) {
    this.deltas = new LiveDeltas(channel, maxDeltaBytes);
    this.#maxDeltaBytes = maxDeltaBytes;
  }

  /** How many sessions, feeds and waiting readers are held here: none once every run is over, or left, and nobody follows one. */
  get held(): number {
    return this.#live.size + this.#expected.size + this.#listeners.size + this.#committed.size + this.deltas.size;
  }

  /** Runs `work` with the session's actor. */
  async use<Result>(
    services: Services,
    session: CommittedSession,
    work: (actor: PersistenceActor) => Promise<Result>,
  ): Promise<Result> {
    const live = this.#enter(services, session);
    try {
      return await work(live.actor);
    } finally {
      this.#leave(session.sessionId, live);
    }
  }

  /** The drive of a session in this process, if there is one. */
  driveOf(sessionId: string): Drive | null {
    return this.#live.get(sessionId)?.drive ?? null;
  }

  /** Resolves when a drive of the session begins in this process, or `signal` aborts. */
  whenDriven(sessionId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const listener = (begun: string) => begun === sessionId && end();
      const end = () => {
        this.#listeners.delete(listener);
        resolve();
      };
      this.#listeners.add(listener);
      signal.addEventListener('abort', end, { once: true });
      if (signal.aborted) end();
    });
  }

  /** Resolves when this process commits to the session next, or `signal` aborts. */
  whenCommitted(sessionId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const listeners = this.#committed.get(sessionId) ?? new Set();
      const end = () => {
        listeners.delete(end);
        if (listeners.size === 0 && this.#committed.get(sessionId) === listeners) this.#committed.delete(sessionId);
        resolve();
      };
      listeners.add(end);
      this.#committed.set(sessionId, listeners);
      signal.addEventListener('abort', end, { once: true });
      if (signal.aborted) end();
    });
  }

  /** The feed of a run that this process may drive later. Let go with {@link forget}. */
  expect(runId: string): RunFeed {
    const feed = this.#expected.get(runId) ?? new RunFeed(this.#maxDeltaBytes);
    this.#expected.set(runId, feed);
    return feed;
  }

  /** Ends the feed of a run that was expected. */
  forget(runId: string, feed: RunFeed): void {
    feed.end();
    if (this.#expected.get(runId) === feed) this.#expected.delete(runId);
  }

  /**
   * Drives the session from `begin`, a commit that granted the lease to this runtime, until it rests; then what waits in its inbox.
   * `isByCaller`: whether `begin` is what the caller asked for.
   */
  start(services: Services, begin: CommitResult, isByCaller = !services.isClaiming): Drive {
    const live = this.#enter(services, begin.session);
    const controller = new AbortController();
    const runId = begin.session.snapshot.context.runId ?? '';
    const feed = this.#expected.get(runId) ?? new RunFeed(this.#maxDeltaBytes);
    this.#expected.delete(runId);
    feed.push(toRunEvent(begin));
    const announce = (result: CommitResult): void => {
      const { announcer } = services;
      if (announcer !== null && asksSomebody(result)) inBackground(services, () => announcer.session(result.session));
    };
    const { tenantId, sessionId, token } = begin.session;
    let after = begin.session.version;
    const unsubscribe = live.actor.subscribe((result) => {
      after = Math.max(after, result.session.version);
      if (result.transition.event.type.startsWith('model.')) this.deltas.endAttempt(sessionId);
      if (!result.repeated) feed.push(toRunEvent(result));
      announce(result);
    });
    const emit = (event: RunEvent): void => {
      feed.push(event);
      if (event.type !== 'delta') return;
      const { kind, text, attempt } = event;
      this.deltas.show({ tenantId, sessionId }, { kind, text, attempt, runId, token, after });
    };
    const scratchpad = new RunScratchpad(services.store.limits);
    const context = driveContext(services, live.actor, begin, { controller, scratchpad, emit });
    const wake = new Wake();
    let sleeps = false;
    const ended = services.operations
      .run(() => runToRest(services, context, { begin, isByCaller }, { controller, wake }))
      .then((last) => {
        sleeps = last !== null && !isResting(last.session.state);
        return last;
      })
      .finally(() => {
        unsubscribe();
        scratchpad.end();
        if (live.drive === drive) this.deltas.end(sessionId);
        if (sleeps && feed.isFollowed) this.#expected.set(runId, feed);
        else feed.end();
        if (live.drive === drive) live.drive = null;
        this.#leave(begin.session.sessionId, live);
      });
    ended.then(
      (last) => last && attendChildren(services, last),
      () => undefined,
    );
    const rested = ended.then(async (last) => {
      const isNext = last !== null && last.waiting > 0 && isResting(last.session.state);
      const following = isNext ? await this.next(services, last.session) : null;
      return following === null ? last : following.rested;
    });
    rested.catch(() => undefined);
    const drive: Drive = {
      runId,
      feed,
      ended,
      rested,
      abort: (reason) => controller.abort(reason),
      look: () => wake.wake(),
    };
    live.drive = drive;
    for (const listener of this.#listeners) listener(begin.session.sessionId);
    return drive;
  }

  /** Begins and drives the run of the message that is next, if there is one. Never rejects: what fails is left to whoever looks next. */
  async next(services: Services, session: CommittedSession): Promise<Drive | null> {
    if (services.closing.aborted || !services.drives) return null;
    return services.operations
      .run(async () => {
        const begun = await drainInbox(services, session);
        return begun === null ? null : this.start(services, begun, false);
      })
      .catch(() => null);
  }

  #enter(services: Services, session: CommittedSession): Live {
    const { sessionId } = session;
    const live = this.#live.get(sessionId) ?? this.#open(services, session);
    live.users += 1;
    this.#live.set(sessionId, live);
    return live;
  }

  #open(services: Services, session: CommittedSession): Live {
    const actor = createPersistenceActor(services.store, session);
    actor.subscribe((result) => {
      tellRelatives(services, result);
      const { session: owner, remembered } = result;
      if (remembered.length > 0) services.memory.vectorWork?.soon(owner, remembered);
      for (const listener of this.#committed.get(session.sessionId) ?? []) listener();
    });
    return { actor, users: 0, drive: null };
  }

  #leave(sessionId: string, live: Live): void {
    live.users -= 1;
    if (live.users > 0) return;
    live.actor.stop();
    this.#live.delete(sessionId);
  }
}

/** Whether a commit may have opened a round of asking. */
function asksSomebody({ repeated, transition, session }: CommitResult): boolean {
  const { type } = transition.event;
  const isAsking = type === 'model.calledTools' || type === 'execution.held' || type === 'tool.outcomeUnknown';
  return !repeated && isAsking && session.snapshot.context.calls.some(waitsForPerson);
}

function toRunEvent({ transition, turns }: CommitResult): RunEvent {
  const { sequence, from, to, event, runId } = transition;
  return { type: 'transition', sequence, from, to, event, turns, runId };
}

function driveContext(
  services: Services,
  actor: PersistenceActor,
  begin: CommitResult,
  {
    controller,
    scratchpad,
    emit,
  }: { controller: AbortController; scratchpad: RunScratchpad; emit: (event: RunEvent) => void },
): DriveContext {
  const { store, holder } = services;
  const { environment } = store;
  const agent = agentOf(services, begin.session);
  return {
    store,
    environment,
    limits: { ...store.limits, ...agent.limits },
    agent,
    countTokens: services.counters.get(agent.name) ?? null,
    actor,
    holder,
    token: begin.session.token,
    session: begin.session,
    clock: { databaseMs: begin.now.getTime(), monotonicMs: environment.monotonic() },
    signal: controller.signal,
    draining: services.closing,
    watch: null,
    scratchpad,
    emit,
    keep: (late) => keepEvidence(services, begin.session, { ...late, token: begin.session.token }),
    memory: new SessionMemory(services, begin.session),
    oweSummary: (upToTurn) => inBackground(services, () => services.summariser.owe(services, begin.session, upToTurn)),
    stop: (reason) => controller.abort(reason),
  };
}

async function runToRest(
  services: Services,
  drive: DriveContext,
  { begin, isByCaller }: { begin: CommitResult; isByCaller: boolean },
  { controller, wake }: { controller: AbortController; wake: Wake },
): Promise<CommitResult | null> {
  let interrupted: CommitResult | null = null;
  const stopHeartbeat = keepLease(drive, wake, {
    onLost: (reason) => controller.abort(reason),
    onInterrupted: (by) => {
      interrupted = by;
      controller.abort(runCancelled(by.session.sessionId));
    },
  });
  try {
    const last = await observeRun(services, drive, { begin, isByCaller }, () => driveSession(drive, begin));
    if (last !== null) return last;
    if (!controller.signal.aborted) await handOver(services, drive);
    return interrupted;
  } catch (error) {
    controller.abort(error);
    if (isTurnlockError(error) && error.code === 'TOKEN_STALE') return interrupted;
    throw error;
  } finally {
    stopHeartbeat();
  }
}

/** A drained drive gives its lease back: the next worker need not wait for its expiry. */
async function handOver(services: Services, { session, holder, token }: DriveContext): Promise<void> {
  await releaseLease(services.store, { ...session, holder, token }).catch(() => false);
}
