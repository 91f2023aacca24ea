import type { ExecutionStatus } from '../../machines/execution-status.ts';
import type { SessionState } from '../../machines/session-state.ts';
import type { ColourName } from './terminal.ts';

/** The colour of a state or status: yellow waits, red failed, cyan is under way, green is done. */
export const STATE_COLOURS: Record<SessionState | ExecutionStatus, ColourName> = {
  IDLE: 'green',
  PLANNING: 'cyan',
  EXECUTING_TOOL: 'cyan',
  AWAITING_INPUT: 'yellow',
  COMPLETED: 'green',
  FAILED: 'red',
  PENDING: 'cyan',
  RUNNING: 'cyan',
  SUCCESS: 'green',
  TIMED_OUT: 'yellow',
};
