import type { RecordedEvent, SessionEvent } from '../machines/session-event.ts';
import type { CommittedSession } from './committed-session.ts';
import type { LeaseClaim } from './lease.ts';
import type { ExecutionRow, TurnRow } from './row-changes.ts';

/** Who caused a transition. Who exactly stands in the payload. */
export type Cause = 'user' | 'worker' | 'operator';

/** One event that a session shall take. */
export interface CommitRequest {
  tenantId: string;
  sessionId: string;
  /** Unique within the session; the same id means the same event, however often it is sent. */
  eventId: string;
  cause: Cause;
  event: SessionEvent;
  claim: LeaseClaim;
  /** Digest of the caller's content: tells a repeat from a conflict. Absent: every repeat is the same. */
  contentDigest?: string;
}

/** A committed transition. */
export interface CommittedTransition {
  sequence: number;
  from: CommittedSession['state'];
  to: CommittedSession['state'];
  event: RecordedEvent;
  eventId: string;
  runId: string | null;
}

/** What a commit left behind. */
export interface CommitResult {
  /** Whether the event id was seen before: then nothing was written now. */
  repeated: boolean;
  session: CommittedSession;
  /** The database's time inside the transaction, read after the lock. */
  now: Date;
  transition: CommittedTransition;
  /** The turns that were written, in order; empty for a repeat. */
  turns: TurnRow[];
  /** The executions of the open assistant turn after the commit. */
  executions: ExecutionRow[];
}
