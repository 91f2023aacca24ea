import type { SessionEvent } from '../machines/session-event.ts';
import { checkParams } from './present-params.ts';
import type { ExecutionRow } from './row-changes.ts';

/**
 * What a person lets run, or says has happened, is what its digest says: nobody changed the params past the runtime since. A refusal is
 * taken all the same.
 *
 * @throws PARAMS_CHANGED.
 */
export function checkDecidedParams(event: SessionEvent, executions: readonly ExecutionRow[]): void {
  if (!letsRun(event)) return;
  const row = executions.find(({ executionId }) => executionId === event.executionId);
  if (row !== undefined) checkParams(row);
}

function letsRun(event: SessionEvent): event is Extract<SessionEvent, { executionId: string }> {
  switch (event.type) {
    case 'approval.granted':
    case 'approval.amended':
      return true;
    case 'execution.settledByPerson':
      return event.outcome !== 'failed';
    default:
      return false;
  }
}
