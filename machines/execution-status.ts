/** The statuses of a tool execution, exactly the values of the database's CHECK constraint. */
export const EXECUTION_STATUSES = ['PENDING', 'RUNNING', 'SUCCESS', 'FAILED', 'TIMED_OUT'] as const;

/** One of {@link EXECUTION_STATUSES}. */
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

/** Whether an execution in `status` has its outcome and its answer for the model. */
export function isSettled(status: ExecutionStatus): boolean {
  return status === 'SUCCESS' || status === 'FAILED' || status === 'TIMED_OUT';
}

/** What a repeat of a tool's act would do; see `docs/guarantees.md`. The default of a tool is `nonRepeatable`. */
export const EFFECT_CLASSES = ['readOnly', 'idempotent', 'transactional', 'reconcilable', 'nonRepeatable'] as const;

/** One of {@link EFFECT_CLASSES}. */
export type EffectClass = (typeof EFFECT_CLASSES)[number];

/** Why nothing says how an attempt ended: its process died, its lease was lost, we stopped waiting, or its tool said that it does not know. */
export const UNKNOWN_REASONS = ['crash', 'lease', 'timeout', 'reported'] as const;

/** One of {@link UNKNOWN_REASONS}. */
export type UnknownReason = (typeof UNKNOWN_REASONS)[number];
