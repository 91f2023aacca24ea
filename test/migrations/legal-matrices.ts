/** The legal pairs, written by hand from the design and not from the machines: what machine and database must both agree with. */
export const SESSION_MATRIX: Record<string, string[]> = {
  IDLE: ['IDLE', 'PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT', 'COMPLETED'],
  PLANNING: ['IDLE', 'PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT', 'COMPLETED', 'FAILED'],
  EXECUTING_TOOL: ['IDLE', 'PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT', 'COMPLETED', 'FAILED'],
  AWAITING_INPUT: ['IDLE', 'PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT', 'FAILED'],
  COMPLETED: [],
  FAILED: ['PLANNING', 'COMPLETED', 'FAILED'],
};

/** A legal way from IDLE to each state. */
export const WAYS_TO_STATE: Record<string, string[]> = {
  IDLE: [],
  PLANNING: ['PLANNING'],
  EXECUTING_TOOL: ['PLANNING', 'EXECUTING_TOOL'],
  AWAITING_INPUT: ['PLANNING', 'AWAITING_INPUT'],
  COMPLETED: ['COMPLETED'],
  FAILED: ['PLANNING', 'FAILED'],
};

/** The same for the statuses of an execution. */
export const EXECUTION_MATRIX: Record<string, string[]> = {
  PENDING: ['PENDING', 'RUNNING', 'SUCCESS', 'FAILED'],
  RUNNING: ['RUNNING', 'SUCCESS', 'FAILED', 'TIMED_OUT'],
  SUCCESS: [],
  FAILED: [],
  TIMED_OUT: ['RUNNING', 'SUCCESS', 'FAILED'],
};

/** A legal way from PENDING to each status. */
export const WAYS_TO_STATUS: Record<string, string[]> = {
  PENDING: [],
  RUNNING: ['RUNNING'],
  SUCCESS: ['SUCCESS'],
  FAILED: ['FAILED'],
  TIMED_OUT: ['RUNNING', 'TIMED_OUT'],
};

/** Every pair of a matrix, with whether it is legal. */
export function everyPair(matrix: Record<string, string[]>): { from: string; to: string; legal: boolean }[] {
  const values = Object.keys(matrix);
  return values.flatMap((from) => values.map((to) => ({ from, to, legal: matrix[from]?.includes(to) ?? false })));
}
