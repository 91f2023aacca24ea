import { setup } from 'xstate';

/** What may happen to a tool execution. `amended` changes params, never the status. */
export type ExecutionEvent =
  | { type: 'amended' }
  | { type: 'started' }
  | { type: 'succeeded' }
  | { type: 'failed' }
  | { type: 'timedOut' }
  | { type: 'becameUnknown' };

/**
 * The life of one tool execution.
 *
 * PENDING waits for a slot or for a person. RUNNING means that an attempt was committed before its tool was called; it stays
 * RUNNING when the outcome becomes unknown and when a new attempt starts. SUCCESS and FAILED are final. TIMED_OUT means that we
 * stopped waiting with the outcome unknown: evidence or a person may still settle it, a person or a repeatable class may run it again.
 */
export const toolExecutionMachine = setup({ types: { events: {} as ExecutionEvent } }).createMachine({
  id: 'toolExecution',
  initial: 'PENDING',
  states: {
    PENDING: { on: { amended: 'PENDING', started: 'RUNNING', succeeded: 'SUCCESS', failed: 'FAILED' } },
    RUNNING: {
      on: {
        started: 'RUNNING',
        becameUnknown: 'RUNNING',
        succeeded: 'SUCCESS',
        failed: 'FAILED',
        timedOut: 'TIMED_OUT',
      },
    },
    TIMED_OUT: { on: { started: 'RUNNING', succeeded: 'SUCCESS', failed: 'FAILED' } },
    SUCCESS: { type: 'final' },
    FAILED: { type: 'final' },
  },
});
