import type { OutcomeContent } from '../machines/event-content.ts';
import type { EventOf, RecordedEvent, SessionEvent } from '../machines/session-event.ts';
import type { CommittedSession } from './committed-session.ts';
import type { ToolTransaction } from './database.contract.ts';
import type { Decided } from './decide-approval.ts';
import type { NewMessage, WhenBusy } from './inbox.ts';
import type { LeaseClaim } from './lease.ts';
import type { NewMemory } from './memory/new-memory.ts';
import type { OpenQuestions } from './open-questions.ts';
import type { ExecutionRow, TurnRow } from './row-changes.ts';

/** Who caused a transition. Who exactly stands in the payload. */
export type Cause = 'user' | 'worker' | 'operator';

/** What is asked of a session where only a look under its lock tells which event that is. */
export type Intent =
  /** A message: begins a run where the session is IDLE and nothing waits, else it waits, is refused or interrupts. */
  | { type: 'sendMessage'; message: NewMessage; whenBusy: WhenBusy }
  /** What the inbox wants next: in IDLE the first message begins a run; while the session is busy a new one is noted, or interrupts. */
  | { type: 'drainInbox' }
  /** What is known by evidence: settles an open call, or becomes a system turn. */
  | { type: 'takeEvidence' }
  /** What a person decides about a call that waits for approval. */
  | { type: 'decideApproval'; decided: Decided }
  /** How a person settles a call. */
  | ({ type: 'settleByPerson'; event: EventOf<'execution.settledByPerson'> } & SettledAs)
  /** What nobody decided in time: those calls are settled as not done, or the session fails, as the policy said. */
  | { type: 'expireInput' }
  /** What is decided about attempts of which nothing says how they ended: evidence that fits, if there is any by now, else `event`. */
  | { type: 'unlessEvidenced'; event: SessionEvent }
  /** An attempt that acts inside this commit: the event is how it ended. */
  | { type: 'settleByActing'; executionId: string; attempt: number; act: Act }
  /** The end for good. What waits is refused first, one message with each commit; repeated until the event is `session.completed`. */
  | { type: 'completeSession'; by: string };

/** What a person's settlement is held against under the lock, and what no event says. */
export interface SettledAs {
  /** The question that the person was shown, which must be open; `null` where the host does not say. */
  answers: string | null;
  /** The user that the person is; `null` where the host does not say, and for who is none. */
  userId: string | null;
}

/** How a transactional tool ended. Failed means that what it wrote shall be rolled back. */
export type ActEnd =
  | { outcome: 'succeeded'; content: OutcomeContent; retryInMs: null; memories?: readonly NewMemory[] }
  | { outcome: 'failed'; content: OutcomeContent; retryInMs: number | null };

/** The act of a transactional tool. It may be run more than once, each time in a transaction of its own of which one at most commits. */
export interface Act {
  /** Milliseconds after which it ends. */
  timeoutMs: number;
  /** Never rejects. */
  run(transaction: ToolTransaction): Promise<ActEnd>;
}

/** One event that a session shall take. */
export interface CommitRequest {
  tenantId: string;
  sessionId: string;
  /** Unique within the session; the same id means the same event, however often it is sent. */
  eventId: string;
  cause: Cause;
  event: SessionEvent | Intent;
  /** Of an intent: the claim of the event that begins a run. */
  claim: LeaseClaim;
  /** Digest of the caller's content: tells a repeat from a conflict. Absent: every repeat is the same. */
  contentDigest?: string;
  /**
   * What is remembered for the user of the session, in the same transaction and with its provenance. A `memory.stored` names their ids; so may
   * any other event bring some along. Absent: nothing.
   */
  memories?: readonly NewMemory[];
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
  /** What persons are asked about them after the commit. */
  questions: OpenQuestions;
  /** How many messages wait after the commit. */
  waiting: number;
  /** How many of them no commit of the session took note of yet. */
  news: number;
  /** How many pieces of evidence are not taken yet. */
  evidence: number;
  /** Child sessions that this commit told to stop. */
  givenUp: string[];
  /** Ids of the memories that it stored; none for a repeat. */
  remembered: string[];
}
