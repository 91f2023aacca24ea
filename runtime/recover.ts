import { isTurnlockError, TurnlockError } from '../errors.ts';
import { isResting, type SessionState } from '../machines/session-state.ts';
import { forgetGivenUp, isGivenUp } from '../persistence/child-cancel.ts';
import type { CommitResult } from '../persistence/commit-request.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import { consumeWake } from '../persistence/consume-wake.ts';
import { findOwedSessions } from '../persistence/find-owed-sessions.ts';
import { childSessionId } from '../persistence/keys/child-ids.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import { type ReadSession, readSession } from '../persistence/read-session-by-key.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { letSleep } from '../persistence/sleeping-parent.ts';
import { reportChild } from './child-end.ts';
import { takeOver } from './continue-session.ts';
import { drainInbox } from './drain-inbox.ts';
import { checkOpen, inBackground, type Services } from './services.ts';
import { waitingCalls } from './waiting-calls.ts';

/** What became of one session that owed work. */
export interface Recovery extends SessionKey {
  /** The state in which it rests now; absent when it was left alone or could not be continued. */
  state?: SessionState;
  /**
   * Code of the error that says why it was left alone, or could not be continued. TOKEN_STALE: another process has it by now;
   * RUNTIME_CLOSED: this one was told to stop, gave it back, and another one goes on.
   */
  skipped?: string;
}

/** How many sessions are looked for at a time. */
const BATCH = 100;

/** How many sessions are brought to rest side by side. */
const CONCURRENCY = 8;

/**
 * Finds the sessions of any tenant that owe work and have no live lease, takes each over and drives it until it rests. A session whose
 * worker is alive is left alone, also one of this process.
 */
export async function recoverSessions(services: Services): Promise<Recovery[]> {
  const recoveries: Recovery[] = [];
  for (;;) {
    checkOpen(services);
    // A parent that sleeps may be woken by a child that is brought to rest here.
    const excluding = recoveries.filter(({ state }) => state !== 'EXECUTING_TOOL').map(({ sessionId }) => sessionId);
    const owed = await findOwedSessions(services.store, { build: services.build, excluding, max: BATCH });
    if (owed.length === 0) return lastOfEach(recoveries);
    const queue = owed.values();
    const workers = Array.from({ length: Math.min(CONCURRENCY, owed.length) }, async () => {
      for (const key of queue) recoveries.push((await recoverOne(services, key)).recovery);
    });
    await Promise.all(workers);
  }
}

/** One line for each session: the last one. */
function lastOfEach(recoveries: readonly Recovery[]): Recovery[] {
  return [...new Map(recoveries.map((recovery) => [recovery.sessionId, recovery])).values()];
}

/** What became of one session, and whether anything had to be done for it. */
export interface Attention {
  recovery: Recovery;
  /** `false`: it owed nothing that this build does. Whoever looks again at once finds it again. */
  acted: boolean;
}

/**
 * Takes over one session that seems to owe work, and drives it until it rests or `services.closing` aborts. It looks first: what it was
 * told may be old.
 *
 * @throws RUNTIME_CLOSED when `services.closing` was aborted before. What else goes wrong with the session is the code in `skipped`.
 */
export async function recoverOne(services: Services, { tenantId, sessionId }: SessionKey): Promise<Attention> {
  const key = { tenantId, sessionId };
  checkOpen(services);
  try {
    const { session, executions, now } = await readObedient(services, key);
    if (await sleepsOn(services, session, executions))
      return { recovery: { ...key, state: session.state }, acted: false };
    if (isResting(session.state)) {
      const rests = await expireInput(services, await takeEvidence(services, session), now);
      const begun = isResting(rests.state) ? await drainInbox(services, rests) : await takeOver(services, rests);
      if (begun !== null) return { recovery: await drive(services, begun), acted: true };
      if (session.wakeAt !== null && session.wakeAt <= now) await consumeWake(services.store, key);
      return { recovery: { ...key, state: rests.state }, acted: rests.version > session.version };
    }
    const taken = await takeOver(services, session);
    if (isResting(taken.session.state)) return { recovery: { ...key, state: taken.session.state }, acted: true };
    return { recovery: await drive(services, taken), acted: true };
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    return { recovery: { ...key, skipped: error.code }, acted: true };
  }
}

/** The session as it is; a child whose parent gave its run up is cancelled first, whoever is at work on it. */
async function readObedient(services: Services, key: SessionKey): Promise<ReadSession> {
  const { store, live } = services;
  const read = await readSession(store, key);
  const { session } = read;
  if (session.depth === 0 || !(await isGivenUp(store, key))) return read;
  const eventId = store.environment.uuid();
  const request = { ...key, eventId, cause: 'worker', event: { type: 'drainInbox' }, claim: { type: 'none' } } as const;
  const done = await live.use(services, session, (actor) => actor.commit(request)).catch(nullIfIllegal);
  if (done?.transition.event.type === 'run.cancelled') {
    const reason = new TurnlockError('RUN_CANCELLED', { message: `run was cancelled: session ${key.sessionId}` });
    live.driveOf(key.sessionId)?.abort(reason);
  }
  await forgetGivenUp(store, key);
  return readSession(store, key);
}

/**
 * Whether a session that waits for its children has nothing to be woken for. Its children are looked at, since nobody may have told how they
 * ended; then it sleeps for another while.
 */
async function sleepsOn(services: Services, session: CommittedSession, executions: ExecutionRow[]): Promise<boolean> {
  const { store } = services;
  const calls = session.leaseHolder === null ? waitingCalls(session, executions, store.limits) : null;
  if (calls === null) return false;
  const { tenantId, sessionId } = session;
  for (const { executionId } of calls) await reportChild(store, tenantId, { sessionId, executionId });
  if (!(await letSleep(store, session))) return false;
  attendChildren(services, { session, executions });
  return true;
}

/**
 * Goes on with the children of a session that sleeps, in this process, where nobody else is at work on them. Nothing happens for a session
 * that does not sleep, and where children are found by claims.
 */
export function attendChildren(
  services: Services,
  { session, executions }: Pick<CommitResult, 'session' | 'executions'>,
): void {
  const { isClaiming, drives, closing, store } = services;
  if (isClaiming || !drives || closing.aborted) return;
  for (const { executionId } of waitingCalls(session, executions, store.limits) ?? []) {
    const key = { tenantId: session.tenantId, sessionId: childSessionId(executionId) };
    inBackground(services, () => recoverOne(services, key));
  }
}

/** Takes all evidence that a session at rest can take, and returns the session as it is then. */
async function takeEvidence(services: Services, session: CommittedSession): Promise<CommittedSession> {
  const { tenantId, sessionId } = session;
  const request = {
    tenantId,
    sessionId,
    cause: 'worker',
    event: { type: 'takeEvidence' },
    claim: { type: 'none' },
  } as const;
  for (let last = session; ; ) {
    const eventId = services.store.environment.uuid();
    const taken = await services.live
      .use(services, last, (actor) => actor.commit({ ...request, eventId }))
      .catch(nullIfIllegal);
    if (taken === null) return last;
    last = taken.session;
  }
}

/**
 * Settles what nobody decided in time, if there is any: calls that were asked for are not done, or the session fails. Returns the session as
 * it is then; it may owe work.
 */
export async function expireInput(services: Services, session: CommittedSession, now: Date): Promise<CommittedSession> {
  const { tenantId, sessionId, wakeAt } = session;
  if (session.state !== 'AWAITING_INPUT' || wakeAt === null || wakeAt > now) return session;
  const eventId = services.store.environment.uuid();
  const key = { tenantId, sessionId, eventId, cause: 'worker' } as const;
  const request = { ...key, event: { type: 'expireInput' }, claim: { type: 'none' } } as const;
  const expired = await services.live.use(services, session, (actor) => actor.commit(request)).catch(nullIfIllegal);
  return expired?.session ?? session;
}

/** Drives a session to rest from a commit that granted its lease, through all runs that wait in its inbox. */
async function drive(services: Services, begin: CommitResult): Promise<Recovery> {
  const { tenantId, sessionId } = begin.session;
  const last = await services.live.start(services, begin).rested;
  if (last !== null) return { tenantId, sessionId, state: last.session.state };
  return { tenantId, sessionId, skipped: services.closing.aborted ? 'RUNTIME_CLOSED' : 'TOKEN_STALE' };
}

/** A commit that does not fit any more had nothing left to do. */
function nullIfIllegal(error: unknown): null {
  if (isTurnlockError(error, 'EVENT_ILLEGAL')) return null;
  throw error;
}
