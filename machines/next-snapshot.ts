import { transition } from 'xstate';
import { TurnlockError } from '../errors.ts';
import { acceptedEvents } from './legal-graph.ts';
import { sessionMachine } from './session.machine.ts';
import type { SessionEvent } from './session-event.ts';
import type { SessionSnapshot } from './snapshot-codec.ts';

/**
 * The snapshot after `event`: pure, the same for the same two arguments. XState ignores an event that it does not know in silence,
 * so acceptance is asked first.
 *
 * @throws EVENT_ILLEGAL when the present state does not take the event; the message names the state and what it accepts.
 */
export function nextSnapshot(snapshot: SessionSnapshot, event: SessionEvent): SessionSnapshot {
  if (!snapshot.can(event)) {
    const accepted = acceptedEvents(snapshot.value);
    throw new TurnlockError('EVENT_ILLEGAL', {
      message: `event not accepted: ${event.type} (found state ${snapshot.value}, which accepts ${accepted.join(', ') || 'nothing'})`,
      details: { state: snapshot.value, event: event.type, accepted },
    });
  }
  return transition(sessionMachine, snapshot, event)[0];
}
