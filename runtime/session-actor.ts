import type { ActorLogic, ActorSystem, ActorSystemInfo, AnyActorRef, Snapshot } from 'xstate';
import { isTurnlockError, TurnlockError } from '../errors.ts';
import { isResting, type SessionState } from '../machines/session-state.ts';
import { toTurnlockError } from '../persistence/sqlstate.ts';
import type { ApproveOptions, DenyOptions } from './check-decision.ts';
import type { SendOptions } from './check-message.ts';
import type { Settlement } from './check-settlement.ts';
import { followSession } from './follow-session.ts';
import type { Run } from './run.ts';
import type { AwaitedExecution, RunResult } from './run-event.ts';
import { inBackground, type Services } from './services.ts';
import type { SessionStatus } from './session-status.ts';

/** A message that an actor sends once it has its session: the actor is done when the run of it is. */
export interface ActorMessage extends Omit<SendOptions, 'transaction' | 'messageId'> {
  text: string;
  /** Required: an actor that is restored sends it again, and gets the run of then. */
  messageId: string;
}

/** What an actor of a session takes. Each is the method of the same kind: what is wrong with it is emitted as `event.refused`. */
export type SessionActorEvent =
  | ({ type: 'user.messaged'; text: string } & Omit<SendOptions, 'transaction'>)
  | ({ type: 'approval.granted'; executionId: string } & ApproveOptions)
  | ({ type: 'approval.denied'; executionId: string } & DenyOptions)
  | ({ type: 'execution.settledByPerson'; executionId: string } & Settlement)
  | { type: 'run.cancelled'; by?: string; reason?: string }
  | { type: 'session.retried'; by?: string }
  | { type: 'session.completed'; by?: string };

/** What an actor of a session emits: an event that was not carried out, and why. The actor goes on. */
export interface EventRefused {
  type: 'event.refused';
  event: SessionActorEvent;
  /** A `TurnlockError`, but for what something outside of the runtime threw. */
  error: unknown;
}

/** The session as it was last seen committed, never a state that is not in the database. JSON, but for an `error`. */
export type SessionSnapshot<Input = unknown> = Snapshot<RunResult | null> & {
  /** As given: what a restored actor opens its session by. */
  input: Input & { message?: ActorMessage };
  /** `null` until the session is open. */
  tenantId: string | null;
  sessionId: string | null;
  /** The session's state; `null` until the session is open. */
  value: SessionState | null;
  /** The sequence of the last transition that was seen. */
  version: number;
  runId: string | null;
  /** What a person is asked. */
  awaiting: AwaitedExecution[];
};

/** What an actor of a session runs on: for `createActor`, and for `invoke` and `spawn` of a machine. */
export type SessionLogic<Input = unknown> = ActorLogic<
  SessionSnapshot<Input>,
  SessionActorEvent,
  Input & { message?: ActorMessage },
  ActorSystem<ActorSystemInfo>,
  EventRefused
>;

/** What an actor needs of a session's handle. */
export interface ActedSession {
  readonly tenantId: string;
  readonly sessionId: string;
  status(): Promise<SessionStatus>;
  send(text: string, options?: SendOptions): Promise<Run>;
  resume(): Promise<Run | null>;
  approve(executionId: string, options: ApproveOptions): Promise<unknown>;
  deny(executionId: string, options: DenyOptions): Promise<unknown>;
  settle(executionId: string, settlement: Settlement): Promise<unknown>;
  cancel(options?: { by?: string; reason?: string }): Promise<void>;
  retry(options?: { by?: string }): Promise<unknown>;
  complete(options?: { by?: string }): Promise<void>;
}

/** The session as an actor saw it. */
type Seen = Pick<SessionStatus, 'version' | 'runId' | 'awaiting'> & { state: SessionState };

/** What the actor tells itself. */
type Told =
  | { type: 'turnlock.seen'; session: ActedSession; seen: Seen }
  | { type: 'turnlock.ended'; output: RunResult | null }
  | { type: 'turnlock.failed'; error: unknown };

/** Until when an actor follows its session, and how it hears of it. */
interface Followed {
  signal: AbortSignal;
  tell(told: Told): void;
}

/** What an actor has while it runs. */
interface Running {
  session: Promise<ActedSession>;
  /** The events that were taken, one after the other. */
  queue: Promise<unknown>;
  stop: AbortController;
}

/** Errors of which nothing follows but to ask again: a message has its id, so that it is taken once. */
const PASSING: readonly string[] = ['transient', 'commitUnknown'];

/** How long after a failed look a session is looked at again, in milliseconds. */
const AGAIN_MS = 1_000;

/**
 * Actors of sessions, which `open` finds or makes. An actor follows its session whoever drives it, and hands what it is sent to the session,
 * one after the other. It is done when the session is COMPLETED, or, with a `message` in its input, when the run of that message has
 * ended, however it ended: then its output is the run's result. It fails where the session cannot be opened or its message is refused.
 *
 * Stopping it stops nothing of the session. Persisted, and restored in any process, it goes on with what it missed.
 */
export function sessionLogic<Input>(
  services: Services,
  open: (input: Input) => Promise<ActedSession>,
): SessionLogic<Input> {
  const running = new WeakMap<AnyActorRef, Running>();
  const logic: SessionLogic<Input> = {
    getInitialSnapshot: (_scope, input) => ({
      status: 'active',
      output: undefined,
      error: undefined,
      input: input ?? ({} as never),
      tenantId: null,
      sessionId: null,
      value: null,
      version: 0,
      runId: null,
      awaiting: [],
    }),
    start: ({ input }, { self }) => {
      const stop = new AbortController();
      const session = Promise.resolve().then(() => open(input));
      session.catch(() => undefined);
      running.set(self, { session, queue: session.catch(() => undefined), stop });
      const signal = AbortSignal.any([stop.signal, services.closing]);
      const tell = (told: Told) => {
        if (!signal.aborted) (self as AnyActorRef).send(told);
      };
      inBackground(services, () => attend(services, session, input.message ?? null, { signal, tell }));
    },
    transition: (snapshot, event, { self, emit }) => {
      const told = event as unknown as Told | { type: 'xstate.stop' };
      switch (told.type) {
        case 'xstate.stop':
          running.get(self)?.stop.abort();
          return { ...snapshot, status: 'stopped', output: undefined, error: undefined };
        case 'turnlock.seen': {
          const { tenantId, sessionId } = told.session;
          const { state: value, version, runId, awaiting } = told.seen;
          return { ...snapshot, tenantId, sessionId, value, version, runId, awaiting };
        }
        case 'turnlock.ended':
          running.get(self)?.stop.abort();
          return { ...snapshot, status: 'done', output: told.output, error: undefined };
        case 'turnlock.failed':
          running.get(self)?.stop.abort();
          return { ...snapshot, status: 'error', output: undefined, error: told.error };
        default: {
          const { session, stop, queue } = running.get(self) ?? {};
          if (session === undefined || stop?.signal.aborted) return snapshot;
          const next = queue?.then(async () => carryOut(await session, event));
          const refused = next?.catch((error: unknown) =>
            emit({ type: 'event.refused', event, error: toTurnlockError(error) }),
          );
          running.set(self, { session, stop: stop as AbortController, queue: Promise.resolve(refused) });
          return snapshot;
        }
      }
    },
    getPersistedSnapshot: (snapshot) => snapshot,
    restoreSnapshot: (snapshot) => snapshot as SessionSnapshot<Input>,
  };
  return logic;
}

/** Follows the session and tells of it until its end, that of its message's run, or `signal`. Never rejects. */
async function attend(
  services: Services,
  opening: Promise<ActedSession>,
  message: ActorMessage | null,
  followed: Followed,
): Promise<void> {
  const { signal, tell } = followed;
  // A runtime that closes is nothing that its session knows of: a restored actor goes on.
  const fail = (error: unknown) =>
    isTurnlockError(error, 'RUNTIME_CLOSED') || tell({ type: 'turnlock.failed', error: toTurnlockError(error) });
  try {
    const session = await opening;
    const completed = watch(services, session, followed);
    completed.catch(fail);
    const output =
      message === null
        ? await completed.then(() => lastResult(session))
        : await endOf(services, session, message, signal);
    if (signal.aborted) return;
    tell({ type: 'turnlock.seen', session, seen: await session.status() });
    tell({ type: 'turnlock.ended', output });
  } catch (error) {
    fail(error);
  }
}

/** Tells of each transition, until the session is COMPLETED or `signal` aborts. */
async function watch(services: Services, session: ActedSession, { signal, tell }: Followed): Promise<void> {
  let seen: Seen | null = null;
  const see = (now: Seen) => {
    seen = now;
    tell({ type: 'turnlock.seen', session, seen: now });
    return now;
  };
  while (!signal.aborted) {
    try {
      const last: Seen = seen ?? see(await session.status());
      if (last.state === 'COMPLETED') return;
      for await (const { sequence, to, runId } of followSession(services, session, { after: last.version, signal })) {
        const before: Seen = seen ?? last;
        if (sequence <= before.version) continue;
        const isAsking = to === 'AWAITING_INPUT';
        see(
          isAsking
            ? await session.status()
            : { version: sequence, state: to, runId: runId ?? before.runId, awaiting: [] },
        );
        if (to === 'COMPLETED') return;
      }
    } catch (error) {
      await pauseAfter(services, error, signal);
    }
  }
}

async function lastResult(session: ActedSession): Promise<RunResult | null> {
  return (await (await session.resume())?.result()) ?? null;
}

/** How the run of a message ended. While a person is asked, or it waits for its turn, it has not. `null`: `signal` aborted first. */
async function endOf(
  services: Services,
  session: ActedSession,
  { text, ...options }: ActorMessage,
  signal: AbortSignal,
): Promise<RunResult | null> {
  while (!signal.aborted) {
    try {
      const { version: after } = await session.status();
      const result = await (await session.send(text, options)).result();
      if (hasEnded(result)) return result;
      for await (const _ of followSession(services, session, { after, signal })) break;
    } catch (error) {
      await pauseAfter(services, error, signal);
    }
  }
  return null;
}

/** By the state, and not by what is awaited: a call whose question is missing waits too. A message that was refused has an error in any state. */
function hasEnded({ queued, awaiting, state, error }: RunResult): boolean {
  if (queued || awaiting.length > 0) return false;
  return error !== null || (isResting(state) && state !== 'AWAITING_INPUT');
}

/** Waits a while after an error of the database that passes, so that what was asked for is asked again. @throws `error` for any other. */
async function pauseAfter({ store }: Services, error: unknown, signal: AbortSignal): Promise<void> {
  if (!isTurnlockError(error) || !PASSING.includes(error.category)) throw error;
  await store.environment.sleep(AGAIN_MS, signal).catch(() => undefined);
}

/** Does what an event asks for. @throws what the method of that kind throws. */
async function carryOut(session: ActedSession, event: SessionActorEvent): Promise<unknown> {
  switch (event.type) {
    case 'user.messaged': {
      const { type: _, text, ...options } = event;
      return session.send(text, options);
    }
    case 'approval.granted': {
      const { type: _, executionId, ...options } = event;
      return session.approve(executionId, options);
    }
    case 'approval.denied': {
      const { type: _, executionId, ...options } = event;
      return session.deny(executionId, options);
    }
    case 'execution.settledByPerson': {
      const { type: _, executionId, ...settlement } = event;
      return session.settle(executionId, settlement as Settlement);
    }
    case 'run.cancelled': {
      const { type: _, ...options } = event;
      return session.cancel(options);
    }
    case 'session.retried': {
      const { type: _, ...options } = event;
      return session.retry(options);
    }
    case 'session.completed': {
      const { type: _, ...options } = event;
      return session.complete(options);
    }
    default:
      throw new TurnlockError('EVENT_ILLEGAL', {
        message: `event was refused: an actor of session ${session.sessionId} (found ${JSON.stringify((event as { type?: unknown }).type)}, wanted one of SessionActorEvent)`,
      });
  }
}
