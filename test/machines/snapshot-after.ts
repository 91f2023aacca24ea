import { nextSnapshot } from '../../machines/next-snapshot.ts';
import type { SessionEvent } from '../../machines/session-event.ts';
import { initialSnapshot, type SessionSnapshot } from '../../machines/snapshot-codec.ts';

/** The snapshot of a new session after `events`. */
export function snapshotAfter(...events: SessionEvent[]): SessionSnapshot {
  return events.reduce(nextSnapshot, initialSnapshot());
}
