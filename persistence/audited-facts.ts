import { isSettled } from '../machines/execution-status.ts';
import type { ExecutionRow, TurnRow } from './row-changes.ts';

/** What the audit vouches for of a turn. */
export type AuditedTurn = Pick<TurnRow, 'turnIndex' | 'role' | 'content' | 'parts' | 'executionId' | 'callOrdinal'>;

/** What the audit vouches for of a turn, in fixed order. */
export function turnFacts({ turnIndex, role, content, parts, executionId, callOrdinal }: AuditedTurn) {
  return [turnIndex, role, content, parts, executionId, callOrdinal] as const;
}

/** What the audit vouches for of an execution that a commit settled. */
export type AuditedOutcome = Pick<
  ExecutionRow,
  'executionId' | 'status' | 'attempt' | 'outputPayload' | 'errorMessage'
>;

/** What the audit vouches for of the executions that a commit settled, in fixed order. */
export function outcomeFacts({ executionId, status, attempt, outputPayload, errorMessage }: AuditedOutcome) {
  return [executionId, status, attempt, outputPayload, errorMessage] as const;
}

/** Those of `executions` that are settled. */
export function settledOf<Row extends AuditedOutcome>(executions: readonly Row[]): Row[] {
  return executions.filter(({ status }) => isSettled(status));
}
