import type { EntityManager } from '@mikro-orm/postgresql';
import type { EventOf, PlannedCall } from '../machines/session-event.ts';
import { claimKeys } from './claim-keys.ts';
import type { Claiming } from './claims.ts';
import { guardRepeats } from './guard-repeats.ts';
import { holdCalls } from './hold-starts.ts';

/** For whom calls are to start. */
export interface Starting extends Claiming {
  /** Whether anything is frozen or budgeted for the tenant. */
  hasControls: boolean;
}

/**
 * The plan of `event`, as what is known under the lock lets its calls begin. The event itself stays as it is: a commit that is repeated
 * decides anew.
 */
export async function decidePlan(
  em: EntityManager,
  starting: Starting,
  event: EventOf<'model.calledTools'>,
): Promise<EventOf<'model.calledTools'>> {
  let calls = await claimKeys(em, starting, event.calls);
  calls = await guardRepeats(em, starting, calls);
  if (starting.hasControls) calls = await holdCalls(em, starting, calls, event.content.modelCall.usage);
  return calls === event.calls ? event : { ...event, calls: onceSomebodyIsAsked(calls) };
}

/** No call starts while another call of its turn waits for a person. */
function onceSomebodyIsAsked(calls: PlannedCall[]): PlannedCall[] {
  if (!calls.some(({ verdict }) => verdict === 'ask')) return calls;
  return calls.map((call) => (call.verdict === 'start' ? { ...call, verdict: 'queue' } : call));
}
