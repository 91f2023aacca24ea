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
 * @throws EVENT_ILLEGAL when the present state does not take the event, or the event names another run, call or attempt than the
 * snapshot has; `details` names the state and what it accepts. The snapshot stays as it was.
 * @example
 * const snapshot = events.reduce(nextSnapshot, initialSnapshot()); // a fold of events, recorded ones too
 */
export function nextSnapshot(snapshot: SessionSnapshot, event: SessionEvent): SessionSnapshot {
  if (!snapshot.can(event)) throw illegal(snapshot, event);
  return transition(sessionMachine, snapshot, event)[0];
}

function illegal({ value: state }: SessionSnapshot, { type }: SessionEvent): TurnlockError {
  const accepted = acceptedEvents(state);
  const message = accepted.includes(type)
    ? `event does not fit: ${type} (found state ${state}, which accepts it, but another run, call or attempt than the event names)`
    : `event not accepted: ${type} (found state ${state}, which accepts ${accepted.join(', ') || 'nothing'})`;
  return new TurnlockError('EVENT_ILLEGAL', { message, details: { state, event: type, accepted } });
}
