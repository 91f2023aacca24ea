import { TurnlockError } from '../errors.ts';
import type { CommitResult } from '../persistence/commit-request.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import { observed } from './observed-commit.ts';
import { agentOf, type Services } from './services.ts';

/**
 * Takes an owed session over and drives it. The takeover is a commit of its own: it raises the fencing token, so whatever a former
 * holder still does is refused, and it counts a recovery where the lease had not been given back. Past the bound the run ends in
 * FAILED: a session that ends its worker each time must not do so for ever.
 *
 * @throws LEASE_HELD when its worker is alive. AGENT_UNKNOWN, AGENT_VERSION_MISMATCH when this build cannot continue it.
 */
export async function takeOver(services: Services, session: CommittedSession): Promise<CommitResult> {
  agentOf(services, session);
  const { environment, limits } = services.store;
  const { holder, build } = services;
  const { tenantId, sessionId } = session;
  if (session.leaseHolder === holder && services.live.driveOf(sessionId) !== null) throw ownDrive(sessionId);
  const key = { tenantId, sessionId, cause: 'worker' } as const;
  return services.live.use(services, session, async (actor) => {
    const taken = await actor.commit({
      ...key,
      eventId: environment.uuid(),
      event: { type: 'worker.tookOver', holder },
      claim: { type: 'takeOver', holder, leaseMs: limits.leaseMs, build },
    });
    const isLost = taken.session.recoveries > session.recoveries;
    services.signals.tookOver({ ...observed(taken.session), isLost });
    if (taken.session.recoveries <= limits.maxRecoveries) return taken;
    const message = `Its worker was lost ${taken.session.recoveries} times in one run; the limit is ${limits.maxRecoveries}.`;
    return actor.commit({
      ...key,
      eventId: environment.uuid(),
      event: {
        type: 'limit.met',
        runId: taken.session.snapshot.context.runId ?? '',
        code: 'LIMIT_RECOVERIES',
        content: { message },
      },
      claim: { type: 'hold', holder, token: taken.session.token, leaseMs: limits.leaseMs },
    });
  });
}

/** Its lease may have run out while this process could not extend it: it is at work all the same, and knows it. */
function ownDrive(sessionId: string): TurnlockError {
  return new TurnlockError('LEASE_HELD', {
    message: `session is held: this process is at work on it: ${sessionId} (wanted nobody)`,
  });
}
