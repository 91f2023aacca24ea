import { randomUUID } from 'node:crypto';
import { commitEvent } from '../persistence/commit-event.ts';
import type { LeaseClaim } from '../persistence/lease.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import type { Store } from '../persistence/session-transaction.ts';
import { runEvents } from './run-events.ts';

/** The four commits of a new session's first run, by the unit of work. Answers the milliseconds of each. */
export async function unitOfWorkRun(store: Store, { tenantId, sessionId }: SessionKey): Promise<number[]> {
  const { leaseMs } = store.limits;
  const times: number[] = [];
  let claim: LeaseClaim = { type: 'acquire', holder: 'bench', leaseMs };
  for (const event of runEvents()) {
    const startedAt = performance.now();
    const cause = event.type === 'user.messaged' ? 'user' : 'worker';
    const { session } = await commitEvent(store, { tenantId, sessionId, eventId: randomUUID(), cause, event, claim });
    times.push(performance.now() - startedAt);
    claim = { type: 'hold', holder: 'bench', token: session.token, leaseMs };
  }
  return times;
}
