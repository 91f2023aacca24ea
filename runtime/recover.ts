import { isTurnlockError } from '../errors.ts';
import { isResting, type SessionState } from '../machines/session-state.ts';
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
  /** Code of the error that says why it was left alone, or could not be continued; TOKEN_STALE: another process has it by now. */
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
  const agents = [...services.agents.keys()];
  for (;;) {
    checkOpen(services);
    const excluding = recoveries.map(({ sessionId }) => sessionId);
    const owed = await findOwedSessions(services.store, { agents, excluding, max: BATCH });
    if (owed.length === 0) return recoveries;
    const queue = owed.values();
    const workers = Array.from({ length: Math.min(CONCURRENCY, owed.length) }, async () => {
      for (const key of queue) recoveries.push(await recoverOne(services, key));
    });
    await Promise.all(workers);
  }
}

async function recoverOne(services: Services, { tenantId, sessionId }: SessionKey): Promise<Recovery> {
  const key = { tenantId, sessionId };
  checkOpen(services);
  try {
    const { session } = await readSession(services.store, key);
    if (isResting(session.state)) {
      const begun = await drainInbox(services, session);
      if (begun === null) return { ...key, state: session.state };
      const rested = await services.live.start(services, begun).ended;
      return rested === null ? { ...key, skipped: 'TOKEN_STALE' } : { ...key, state: rested.session.state };
    }
    const taken = await takeOver(services, session);
    if (isResting(taken.session.state)) return { ...key, state: taken.session.state };
    const last = await services.live.start(services, taken).ended;
    return last === null ? { ...key, skipped: 'TOKEN_STALE' } : { ...key, state: last.session.state };
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    return { ...key, skipped: error.code };
  }
}
