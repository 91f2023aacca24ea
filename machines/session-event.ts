import type {
  AmendedContent,
  CallContent,
  FailureContent,
  HeldContent,
  Json,
  ModelTurnContent,
  OutcomeContent,
  StartContent,
  UpgradedParams,
  UserTurnContent,
} from './event-content.ts';
import type { UnknownReason } from './execution-status.ts';

/** How a call of an assistant turn begins: at once, when a slot is free, when a person agreed, or settled in the same commit. */
export type CallVerdict = 'start' | 'queue' | 'ask' | 'settled';

/** What a call waits for when its verdict is `ask`. */
export type Waits = 'approval' | 'answer';

/** One distinct call of an assistant turn. `ordinals` are its places among the turn's calls: more than one when it was repeated. */
export interface PlannedCall {
  executionId: string;
  ordinals: number[];
  verdict: CallVerdict;
  waitsFor?: Waits;
  /** For `settled`: how it ended without running (answered by an earlier execution, invalid, denied). */
  outcome?: 'succeeded' | 'failed';
  /** The session that answers the call, where another agent does. */
  childSessionId?: string;
  content: CallContent;
}

/** A committed start of one attempt. `timeoutMs` becomes the attempt's deadline on the database's clock; `null`: it has none. */
export interface StartedAttempt {
  executionId: string;
  attempt: number;
  timeoutMs: number | null;
  /**
   * What is found out by now about the attempts before it: why one may have acted, or that none has (`notDone`). Absent where that stays as
   * it was.
   */
  before?: UnknownReason | 'notDone';
  /** Where the stored params are of an older version of the tool: what they became, for this attempt and those after it. */
  upgrade?: UpgradedParams;
  content?: StartContent;
}

/** How one attempt ended. */
export interface AttemptResult {
  executionId: string;
  attempt: number;
  outcome: 'succeeded' | 'failed' | 'timedOut';
  /** Who found it out, where that was not the attempt itself: `reconcile`, or a person. */
  by?: string;
  content: OutcomeContent;
}

/** One attempt that failed, and when the next one begins: `retryInMs` after the commit, on the database's clock. */
export interface FailedAttempt {
  executionId: string;
  attempt: number;
  retryInMs: number;
  /** Why it may have acted all the same. Absent where it is known to have done nothing. */
  unknown?: UnknownReason;
  content: OutcomeContent;
}

/** Nothing says how an attempt ended. `content` holds what its tool said of it, where that is why. */
export interface UnknownAttempt {
  executionId: string;
  attempt: number;
  reason: UnknownReason;
  content?: OutcomeContent;
}

/** How an attempt ended that nobody waited for any more. That it was given up is no evidence. */
export interface EvidencedResult extends AttemptResult {
  outcome: 'succeeded' | 'failed';
}

/**
 * The facts that a session can take: past tense, dotted.
 *
 * Whatever stands under a property named `content` is for rows only: no guard and no assignment reads it, and it is left out of the
 * recorded event, so that a fold of the recorded events repeats every snapshot exactly.
 */
export type SessionEvent =
  | { type: 'user.messaged'; runId: string; answersExecutionId?: string; content: UserTurnContent }
  | { type: 'message.enqueued'; runId: string }
  | { type: 'message.rejected'; runId: string; code: string }
  | { type: 'model.replied'; runId: string; final: boolean; content: ModelTurnContent }
  | { type: 'model.calledTools'; runId: string; calls: PlannedCall[]; content: ModelTurnContent }
  | { type: 'model.attemptFailed'; runId: string; retryInMs: number; content: FailureContent }
  | { type: 'model.failed'; runId: string; code: string; content: FailureContent }
  | { type: 'execution.started'; executions: StartedAttempt[] }
  | { type: 'execution.held'; executionIds: string[]; content?: { [executionId: string]: HeldContent } }
  | { type: 'execution.refused'; executions: { executionId: string; content: OutcomeContent }[] }
  | { type: 'tool.settled'; results: AttemptResult[] }
  | { type: 'tool.attemptFailed'; results: FailedAttempt[] }
  | { type: 'tool.outcomeUnknown'; executions: UnknownAttempt[] }
  | { type: 'tool.evidenced'; results: EvidencedResult[]; systemTurns: number }
  /** `roles` of whoever decided, where the host said some. */
  | { type: 'approval.granted'; executionId: string; by: string; roles?: string[] }
  | { type: 'approval.denied'; executionId: string; by: string; roles?: string[]; content: OutcomeContent }
  | { type: 'approval.amended'; executionId: string; by: string; roles?: string[]; content: AmendedContent }
  | { type: 'approval.superseded'; executionIds: string[]; by: string; content: OutcomeContent }
  | { type: 'input.expired'; executionIds: string[]; fails: boolean; content: OutcomeContent }
  | {
      type: 'execution.settledByPerson';
      executionId: string;
      outcome: 'succeeded' | 'failed' | 'runAgain';
      by: string;
      roles?: string[];
      content: OutcomeContent;
    }
  | { type: 'run.cancelled'; by: string; content: OutcomeContent }
  | { type: 'limit.met'; runId: string; code: string; content: FailureContent }
  | { type: 'worker.tookOver'; holder: string }
  | { type: 'lease.released'; by: string }
  | { type: 'session.retried'; runId: string; by: string }
  | { type: 'session.completed'; by: string }
  | { type: 'session.forked'; originSessionId: string; originTurnIndex: number; by: string }
  /** `snapshot` is the whole one in the form of `toVersion`: a replay goes on from it. */
  | { type: 'machine.upgraded'; fromVersion: number; toVersion: number; snapshot: Json }
  | { type: 'memory.stored'; memoryIds: string[] }
  | { type: 'content.erased'; by: string };

/** The name of a session event. */
export type SessionEventType = SessionEvent['type'];

/** The event of one name. */
export type EventOf<Type extends SessionEventType> = Extract<SessionEvent, { type: Type }>;

/** An event as it stands in the audit: without its contents. */
export type RecordedEvent = { type: SessionEventType } & Record<string, unknown>;

/** `event` without every property named `content`, at any depth: what is recorded and folded. */
export function recordedEvent(event: SessionEvent): RecordedEvent {
  return withoutContent(event) as RecordedEvent;
}

function withoutContent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutContent);
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(([name, inner]) => name !== 'content' && inner !== undefined);
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutContent(inner)]));
}
