import { isTurnlockError } from '../errors.ts';
import type { CommitResult } from '../persistence/commit-request.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import { rejectAfterCompletion } from '../persistence/reject-after-completion.ts';
import { agentOf, type Services } from './services.ts';

/**
 * Does what the inbox of a session at rest wants: the commit that begins the next run, or `null` where none can begin now. Messages that
 * cannot become a turn are refused on the way, and in COMPLETED all of them.
 *
 * @throws AGENT_UNKNOWN, AGENT_VERSION_MISMATCH when this build cannot drive the session; its messages wait for one that can.
 */
export async function drainInbox(services: Services, session: CommittedSession): Promise<CommitResult | null> {
  const { store, holder, live, build } = services;
  const { environment, limits } = store;
  const { tenantId, sessionId } = session;
  if (session.state === 'COMPLETED') {
    await rejectAfterCompletion(store, session);
    return null;
  }
  agentOf(services, session);
  const claim = { type: 'acquire', holder, leaseMs: limits.leaseMs, build } as const;
  const request = { tenantId, sessionId, cause: 'user', event: { type: 'drainInbox' }, claim } as const;
  for (;;) {
    const eventId = environment.uuid();
    const result = await live
      .use(services, session, (actor) => actor.commit({ ...request, eventId }))
      .catch((error: unknown) => {
        // Nothing waits any more, or somebody else was first.
        if (isTurnlockError(error, 'EVENT_ILLEGAL') || isTurnlockError(error, 'SESSION_BUSY')) return null;
        throw error;
      });
    if (result === null) return null;
    if (!result.repeated && result.transition.event.type === 'user.messaged') return result;
  }
}
