/** The states of a session, exactly the values of the database's CHECK constraint. */
export const SESSION_STATES = ['IDLE', 'PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT', 'COMPLETED', 'FAILED'] as const;

/** One of {@link SESSION_STATES}. */
export type SessionState = (typeof SESSION_STATES)[number];

/** The states in which a run has ended or waits for a person: nothing is owed by a worker. */
export const RESTING_STATES = ['IDLE', 'AWAITING_INPUT', 'COMPLETED', 'FAILED'] as const satisfies SessionState[];

/** Whether a session in `state` rests: no model call and no tool execution is owed. */
export function isResting(state: SessionState): boolean {
  return (RESTING_STATES as readonly SessionState[]).includes(state);
}
