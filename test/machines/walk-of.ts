import { isTurnlockError } from '../../errors.ts';
import { nextSnapshot } from '../../machines/next-snapshot.ts';
import type { SessionEvent } from '../../machines/session-event.ts';
import { initialSnapshot, type SessionSnapshot } from '../../machines/snapshot-codec.ts';
import { deepFreeze } from './deep-freeze.ts';
import { type Choice, eventOf } from './random-events.ts';
import { SessionModel } from './session-model.ts';

/** One step of a walk. */
export interface Step {
  before: SessionSnapshot;
  event: SessionEvent;
  /** `null` when the machine refused. */
  after: SessionSnapshot | null;
  model: SessionModel;
  /** Whether the model took the event. */
  taken: boolean;
}

/** Walks machine and model side by side. What the machine is given is frozen: writing to it would throw. */
export function* walkOf(steps: Choice[], change = (event: SessionEvent) => event): Generator<Step> {
  const model = new SessionModel();
  let before = initialSnapshot();
  for (const step of steps) {
    const event = deepFreeze(change(eventOf(step, model)));
    deepFreeze(before.context);
    const after = take(before, event);
    const taken = model.take(event);
    yield { before, event, after, model, taken };
    before = after ?? before;
  }
}

/** The machine throws nothing but EVENT_ILLEGAL. */
function take(snapshot: SessionSnapshot, event: SessionEvent): SessionSnapshot | null {
  try {
    return nextSnapshot(snapshot, event);
  } catch (error) {
    if (isTurnlockError(error, 'EVENT_ILLEGAL')) return null;
    throw error;
  }
}
