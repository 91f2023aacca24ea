import type {
  ChildContent,
  Json,
  ModelCallContent,
  Normalised,
  TokenUsage,
  TurnPart,
} from '../machines/event-content.ts';
import type { EffectClass, ExecutionStatus, UnknownReason } from '../machines/execution-status.ts';

/** A turn to insert. */
export interface TurnRow {
  turnId: string;
  turnIndex: number;
  runId: string | null;
  role: 'user' | 'assistant' | 'system' | 'tool';
  content: string;
  parts: TurnPart[] | Json[];
  tokenUsageJson: TokenUsage;
  executionId: string | null;
  callTurnId: string | null;
  callOrdinal: number | null;
  normalised: Normalised;
  metadata: { [name: string]: Json };
}

/** The part of an execution that never changes once it was written. */
export interface ExecutionIdentity {
  executionId: string;
  turnId: string;
  runId: string;
  ordinal: number;
  toolName: string;
  toolVersion: number;
  effect: EffectClass;
  idempotencyKey: string;
  inputParameters: Json;
  paramsDigest: string;
  providerCallId: string | null;
  rawInput: string | null;
  /** The execution whose result answered the call. */
  answeredBy: string | null;
  /** The business key that it took. */
  claimDigest: string | null;
  claimGeneration: number | null;
  /** What the tool says the call costs, in millionths of money. */
  costMicroMoney: number | null;
}

/** The part of an execution that moves. */
export interface ExecutionProgress {
  status: ExecutionStatus;
  attempt: number;
  outputPayload: Json | null;
  errorMessage: string | null;
  errorCode: string | null;
  startedAt: Date;
  completedAt: Date | null;
  deadlineAt: Date | null;
  /** When the next attempt begins, where the last one failed and is retried. */
  retryAt: Date | null;
  fencingToken: number | null;
  unknownAt: Date | null;
  unknownReason: UnknownReason | null;
  settledBy: string | null;
  /** What the params became for a later version of the tool; they count where `upgradedVersion` is not `null`. */
  upgradedParameters: Json | null;
  upgradedDigest: string | null;
  upgradedVersion: number | null;
  /**
   * Of ours: `amendedBy` where a person changed the params, `answeredAs` where an earlier call answered, `doubt` where it was given up and
   * an attempt before the last one may have acted.
   */
  metadata: { [name: string]: Json };
  /** Where params, and later output or error, had characters that cannot be stored. */
  normalised: Normalised;
}

/** What a person may change of a call that has not started. */
export type AmendableIdentity = Pick<
  ExecutionIdentity,
  'idempotencyKey' | 'inputParameters' | 'paramsDigest' | 'claimDigest' | 'claimGeneration' | 'costMicroMoney'
>;

/** What one commit changes of an execution. */
export type ExecutionUpdate = Partial<ExecutionProgress & AmendableIdentity>;

/** A whole execution, as its row holds it. */
export type ExecutionRow = ExecutionIdentity & ExecutionProgress;

/** A child session to insert. */
export interface StartedChild {
  executionId: string;
  child: ChildContent;
}

/** Whether a child session answers the execution: what was started so has no deadline. */
export function hasChild({
  effect,
  attempt,
  deadlineAt,
}: Pick<ExecutionRow, 'effect' | 'attempt' | 'deadlineAt'>): boolean {
  return effect === 'reconcilable' && attempt > 0 && deadlineAt === null;
}

/** Whether a child session is at work on it. */
export function isWithChild(execution: Pick<ExecutionRow, 'effect' | 'attempt' | 'deadlineAt' | 'status'>): boolean {
  return execution.status === 'RUNNING' && hasChild(execution);
}

/** What one commit writes beside the session's row and its transition. */
export interface RowChanges {
  turns: TurnRow[];
  insertedExecutions: ExecutionRow[];
  /** By execution id: the properties that change. */
  updatedExecutions: Map<string, ExecutionUpdate>;
  modelCall: ModelCallContent | null;
  /** Child sessions that the executions which begin create. */
  children: StartedChild[];
  /** Executions that are given up while a child session is at work on them. */
  givenUp: string[];
}
