import { isSettled } from '../machines/execution-status.ts';
import type { AgentApprovalRow } from './entities/agent-approval.entity.ts';
import type { AgentModelCallRow } from './entities/agent-model-call.entity.ts';
import type { AgentSessionRow } from './entities/agent-session.entity.ts';
import { saltedDigest } from './keys/salted-digest.ts';
import type { ExecutionRow, TurnRow } from './row-changes.ts';

/**
 * Digests of the rows that a commit wrote, as it left them: what of them neither the turns digest nor the outcomes digest has. The last one
 * that names a row must be that of the row as it is.
 */
export interface RowDigests {
  session: string;
  /** Of the turns, in their order. Absent where it wrote none. */
  turns?: string;
  modelCalls?: { [modelCallId: string]: string };
  executions?: { [executionId: string]: string };
  rounds?: { [approvalId: string]: string };
  /** Of the prefix that a fork copied: made by the database, as the digests of its turns and outcomes are. */
  copied?: { turns: string; executions: string };
}

/** The columns of a session that the audit vouches for, beside state, snapshot and those of the hash of its begin. */
export type AuditedSessionRow = Pick<
  AgentSessionRow,
  | 'version'
  | 'userId'
  | 'activeModelId'
  | 'createdAt'
  | 'updatedAt'
  | 'agentVersion'
  | 'externalId'
  | 'machineVersion'
  | 'leaseToken'
  | 'recoveries'
  | 'depth'
  | 'forkOriginTurnIndex'
  | 'metadata'
  | 'normalised'
  | 'firstAgentVersion'
  | 'firstMachineVersion'
>;

/** What the audit vouches for of a session's row, in fixed order. */
export function sessionRowFacts(row: AuditedSessionRow) {
  return [
    ...[row.version, row.userId, row.activeModelId, row.createdAt.getTime(), row.updatedAt.getTime()],
    ...[row.agentVersion, row.externalId ?? null, row.machineVersion, row.leaseToken, row.recoveries, row.depth],
    ...[row.forkOriginTurnIndex ?? null, row.metadata, row.normalised ?? null],
    ...[row.firstAgentVersion, row.firstMachineVersion],
  ];
}

/** A turn, as the audit looks at it beside its contents. */
export type AuditedTurnRow = Pick<
  TurnRow,
  'turnId' | 'runId' | 'callTurnId' | 'tokenUsageJson' | 'metadata' | 'normalised'
>;

/** What the audit vouches for of a turn beside its contents, in fixed order. */
export function turnRowFacts(
  { turnId, runId, callTurnId, tokenUsageJson, metadata, normalised }: AuditedTurnRow,
  at: number,
) {
  return [turnId, runId, callTurnId, tokenUsageJson, metadata, normalised ?? null, at];
}

/** What the audit vouches for of an execution beside its outcome, in fixed order. Params stand for themselves by their digest. */
export function executionRowFacts(row: ExecutionRow) {
  // What it settled with is in the outcomes digest; until then nothing may stand there that no event said.
  const open = isSettled(row.status) ? null : [row.errorMessage, row.outputPayload !== null];
  return [
    ...[row.turnId, row.runId, row.ordinal, row.toolName, row.toolVersion, row.effect, row.idempotencyKey],
    ...[row.paramsDigest, row.providerCallId, row.rawInput, row.claimDigest, row.claimGeneration, row.costMicroMoney],
    ...[row.errorCode, timeOf(row.startedAt), timeOf(row.completedAt), timeOf(row.deadlineAt), timeOf(row.retryAt)],
    ...[row.fencingToken, timeOf(row.unknownAt), row.unknownReason, row.settledBy],
    ...[row.upgradedDigest, row.upgradedVersion, row.metadata, row.normalised, open],
  ];
}

/** What the audit vouches for of a round, in fixed order. Whether people were told of it is no part of it. */
export function roundFacts(row: AgentApprovalRow) {
  return [
    ...[row.executionId, row.round, row.kind, row.argsDigest, row.question ?? null, row.approvers ?? null],
    ...[timeOf(row.requestedAt), timeOf(row.expiresAt), row.onExpiry ?? 'failCall', row.controls ?? null],
    ...[row.decision ?? null, row.decidedBy ?? null, row.decidedRoles ?? null, timeOf(row.decidedAt)],
    ...[row.reason ?? null, timeOf(row.consumedAt)],
  ];
}

/** What the audit vouches for of a model call, in fixed order. */
export function modelCallFacts(row: AgentModelCallRow) {
  return [
    ...[row.runId, row.attempt, row.modelId, row.agentVersion, row.tools, row.windowFrom, row.windowTo, row.memories],
    ...[timeOf(row.startedAt), row.latencyMs ?? null, row.tokenUsageJson, row.finishReason ?? null],
    ...[row.providerRequestId ?? null, row.errorCode ?? null, row.errorMessage ?? null],
  ];
}

/** The rows that a commit wrote. */
export interface WrittenRows {
  session: AuditedSessionRow;
  turns: readonly AuditedTurnRow[];
  /** When its turns were written. */
  now: Date;
  modelCall: AgentModelCallRow | null;
  executions: readonly ExecutionRow[];
  rounds: readonly AgentApprovalRow[];
}

/** What the payload of a commit says of the rows that it wrote. */
export function rowDigests(
  salt: string,
  { session, turns, now, modelCall, executions, rounds }: WrittenRows,
): RowDigests {
  const each = <Row>(rows: readonly Row[], idOf: (row: Row) => string, facts: (row: Row) => unknown) =>
    Object.fromEntries(rows.map((row) => [idOf(row), saltedDigest(salt, facts(row))]));
  const written = turns.map((turn) => turnRowFacts(turn, now.getTime()));
  return {
    session: saltedDigest(salt, sessionRowFacts(session)),
    ...(turns.length > 0 && { turns: saltedDigest(salt, written) }),
    ...(modelCall !== null && { modelCalls: each([modelCall], (row) => row.modelCallId, modelCallFacts) }),
    ...(executions.length > 0 && { executions: each(executions, (row) => row.executionId, executionRowFacts) }),
    ...(rounds.length > 0 && { rounds: each(rounds, (row) => row.approvalId, roundFacts) }),
  };
}

function timeOf(time: Date | null | undefined): number | null {
  return time?.getTime() ?? null;
}
