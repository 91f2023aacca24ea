import type { EntityManager } from '@mikro-orm/postgresql';
import type { EventOf, PlannedCall } from '../machines/session-event.ts';
import { type Claiming, claimKeys } from './claim-keys.ts';
import { guardRepeats } from './guard-repeats.ts';

/**
 * The plan of `event`, as what is known under the lock lets its calls begin. The event itself stays as it is: a commit that is repeated
 * decides anew.
 */
export async function decidePlan(
  em: EntityManager,
  claiming: Claiming,
  event: EventOf<'model.calledTools'>,
): Promise<EventOf<'model.calledTools'>> {
  const calls = await guardRepeats(em, claiming, await claimKeys(em, claiming, event.calls));
  return calls === event.calls ? event : { ...event, calls: onceSomebodyIsAsked(calls) };
}

/** No call starts while another call of its turn waits for a person. */
function onceSomebodyIsAsked(calls: PlannedCall[]): PlannedCall[] {
  if (!calls.some(({ verdict }) => verdict === 'ask')) return calls;
  return calls.map((call) => (call.verdict === 'start' ? { ...call, verdict: 'queue' } : call));
}
