import { isResting } from '../machines/session-state.ts';
import type { CommitResult } from '../persistence/commit-request.ts';
import { childRunId } from '../persistence/keys/child-ids.ts';
import { reportChild } from './child-end.ts';
import { recoverOne } from './recover.ts';
import { inBackground, type Services } from './services.ts';

/**
 * What follows for parent and children from a commit that this process made: a child whose run ended tells its parent, and children that were
 * given up are brought to their end. Never rejects and is not waited for: whatever is lost with this process is found again, by the look of
 * whoever has the parent, and by the sweep.
 */
export function tellRelatives(services: Services, { repeated, session, transition, givenUp }: CommitResult): void {
  if (repeated) return;
  const { tenantId, parent, state } = session;
  for (const sessionId of givenUp) inBackground(services, () => recoverOne(services, { tenantId, sessionId }));
  if (parent === null || !isResting(state) || state === 'AWAITING_INPUT') return;
  const ended = transition.event.runId ?? transition.runId;
  if (ended !== childRunId(parent.executionId) && transition.runId !== childRunId(parent.executionId)) return;
  inBackground(services, async () => {
    await reportChild(services.store, tenantId, parent);
    if (services.isClaiming || !services.drives || services.closing.aborted) return;
    await recoverOne(services, { tenantId, sessionId: parent.sessionId });
  });
}
