import type { EntityManager } from '@mikro-orm/postgresql';
import type { EventOf, PlannedCall } from '../machines/session-event.ts';
import { guardRepeats } from './guard-repeats.ts';
import type { SessionKey } from './read-session.ts';

/**
 * The plan of `event`, as what is known under the lock lets its calls begin. The event itself stays as it is: a commit that is repeated
 * decides anew.
 */
export async function decidePlan(
  em: EntityManager,
  key: SessionKey,
  event: EventOf<'model.calledTools'>,
): Promise<EventOf<'model.calledTools'>> {
  const calls = await guardRepeats(em, key, event.calls);
  return calls === event.calls ? event : { ...event, calls: onceSomebodyIsAsked(calls) };
}

/** No call starts while another call of its turn waits for a person. */
function onceSomebodyIsAsked(calls: PlannedCall[]): PlannedCall[] {
  if (!calls.some(({ verdict }) => verdict === 'ask')) return calls;
  return calls.map((call) => (call.verdict === 'start' ? { ...call, verdict: 'queue' } : call));
}
