// Written out by `node scripts/generate-guards.ts` from the machines' legal graphs; a test compares. A released migration never changes.

/** The session states, for the CHECK constraint. */
export const SESSION_STATES_SQL = `'IDLE', 'PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT', 'COMPLETED', 'FAILED'`;

/** The execution statuses, for the CHECK constraint. */
export const EXECUTION_STATUSES_SQL = `'PENDING', 'RUNNING', 'SUCCESS', 'FAILED', 'TIMED_OUT'`;

/** Which session may go from `from_state` to `to_state`. */
export const SESSION_PAIRS_SQL = `CASE from_state
  WHEN 'IDLE' THEN to_state IN ('IDLE', 'PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT', 'COMPLETED')
  WHEN 'PLANNING' THEN to_state IN ('IDLE', 'PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT', 'COMPLETED', 'FAILED')
  WHEN 'EXECUTING_TOOL' THEN to_state IN ('IDLE', 'PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT', 'COMPLETED', 'FAILED')
  WHEN 'AWAITING_INPUT' THEN to_state IN ('IDLE', 'PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT', 'FAILED')
  WHEN 'FAILED' THEN to_state IN ('PLANNING', 'COMPLETED', 'FAILED')
  ELSE false
END`;

/** Which execution may go from \`from_status\` to \`to_status\`. */
export const EXECUTION_PAIRS_SQL = `CASE from_status
  WHEN 'PENDING' THEN to_status IN ('PENDING', 'RUNNING', 'SUCCESS', 'FAILED')
  WHEN 'RUNNING' THEN to_status IN ('RUNNING', 'SUCCESS', 'FAILED', 'TIMED_OUT')
  WHEN 'TIMED_OUT' THEN to_status IN ('RUNNING', 'SUCCESS', 'FAILED')
  ELSE false
END`;
