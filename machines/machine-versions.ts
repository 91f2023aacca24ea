import type { RecordedEvent } from './session-event.ts';

/**
 * A version of the session machine before the present one: what a build still knows of it, so that sessions which it wrote go on and can be
 * replayed. It never changes once its version was released.
 *
 * A stored snapshot of any version has the session's state as `value`.
 */
export interface EarlierMachine {
  readonly version: number;
  /** The stored snapshot with which sessions of this version begin. */
  readonly initial: unknown;
  /**
   * The stored snapshot of the next version that says the same as `stored`, one of this version, in the same state. Pure: it is called whenever
   * such a session is read. What it throws quarantines the session.
   */
  upgrade(stored: unknown): unknown;
  /** The stored snapshot after a recorded event, as this machine decided. Absent once its code is gone: then replay goes on from the upgrade. */
  next?(stored: unknown, event: RecordedEvent): unknown;
}

/** The versions before the present one that this build reads, oldest first, without a gap. */
export const EARLIER_MACHINES: readonly EarlierMachine[] = [];
