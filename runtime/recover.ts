import { isTurnlockError } from '../errors.ts';
import { isResting, type SessionState } from '../machines/session-state.ts';
import type { CommitResult } from '../persistence/commit-request.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import { consumeWake } from '../persistence/consume-wake.ts';
import { findOwedSessions } from '../persistence/find-owed-sessions.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import { readSession } from '../persistence/read-session-by-key.ts';
import { takeOver } from './continue-session.ts';
import { drainInbox } from './drain-inbox.ts';
import { checkOpen, type Services } from './services.ts';

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
    const excluding = recoveries.map(({ sessionId }) => sessionId);
    const owed = await findOwedSessions(services.store, { build: services.build, excluding, max: BATCH });
    if (owed.length === 0) return recoveries;
    const queue = owed.values();
    const workers = Array.from({ length: Math.min(CONCURRENCY, owed.length) }, async () => {
      for (const key of queue) recoveries.push((await recoverOne(services, key)).recovery);
    });
    await Promise.all(workers);
  }
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
    const { session, now } = await readSession(services.store, key);
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
      .catch((error: unknown) => {
        if (isTurnlockError(error, 'EVENT_ILLEGAL')) return null;
        throw error;
      });
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
  const expired = await services.live
    .use(services, session, (actor) => actor.commit(request))
    .catch((error: unknown) => {
      if (isTurnlockError(error, 'EVENT_ILLEGAL')) return null;
      throw error;
    });
  return expired?.session ?? session;
}

/** Drives a session to rest from a commit that granted its lease, through all runs that wait in its inbox. */
async function drive(services: Services, begin: CommitResult): Promise<Recovery> {
  const { tenantId, sessionId } = begin.session;
  const last = await services.live.start(services, begin).rested;
  if (last !== null) return { tenantId, sessionId, state: last.session.state };
  return { tenantId, sessionId, skipped: services.closing.aborted ? 'RUNTIME_CLOSED' : 'TOKEN_STALE' };
}
