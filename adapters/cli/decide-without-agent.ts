import { commitEvent } from '../../persistence/commit-event.ts';
import type { CommittedSession } from '../../persistence/committed-session.ts';
import type { Decided } from '../../persistence/decide-approval.ts';
import type { SessionKey } from '../../persistence/read-session.ts';
import type { Store } from '../../persistence/session-transaction.ts';

/** Decides about a call and leaves what follows to a process that knows the agent: any worker, or `turnlock recover`. */
export async function decideWithoutAgent(store: Store, key: SessionKey, decided: Decided): Promise<CommittedSession> {
  const { session } = await commitEvent(store, {
    ...key,
    eventId: store.environment.uuid(),
    cause: 'operator',
    event: { type: 'decideApproval', decided },
    claim: { type: 'none' },
  });
  return session;
}
