import type { OutcomeContent } from '../machines/event-content.ts';
import type { SessionEvent, StartedAttempt } from '../machines/session-event.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import type { DriveContext } from './drive-context.ts';
import { type NotReady, paramsToRun } from './upgrade-params.ts';

/** What may begin now: calls whose attempt was lost and may be repeated, and calls that wait for their first or next start. */
export interface Startable {
  orphans: readonly ExecutionRow[];
  due: readonly ExecutionRow[];
}

interface Stopped {
  row: ExecutionRow;
  problem: NotReady['problem'];
}

/**
 * The event that begins what may begin, with params as today's tools take them; `null` where nothing may.
 *
 * What cannot run in this build comes first, since no call starts while a person is asked about a sibling: a call that never started, or
 * that a person sent again, waits for a person; one whose attempt was lost has an unknown outcome; one whose last attempt failed has
 * failed for good.
 */
export async function prepareStarts(drive: DriveContext, { orphans, due }: Startable): Promise<SessionEvent | null> {
  const executions: StartedAttempt[] = [];
  const stopped: Stopped[] = [];
  for (const row of [...orphans, ...due]) {
    const tool = drive.agent.tools.get(row.toolName);
    const ready = await paramsToRun(drive, tool, row);
    if ('problem' in ready) {
      stopped.push({ row, problem: ready.problem });
      continue;
    }
    const { executionId, attempt } = row;
    const timeoutMs = tool?.timeoutMs ?? drive.limits.toolTimeoutMs;
    const upgrade = ready.upgrade === null ? {} : { upgrade: ready.upgrade };
    executions.push({ executionId, attempt: attempt + 1, timeoutMs, ...upgrade });
  }
  if (drive.signal.aborted) return null;
  if (stopped.length > 0) return stop(stopped, orphans);
  return executions.length === 0 ? null : { type: 'execution.started', executions };
}

function stop(stopped: readonly Stopped[], orphans: readonly ExecutionRow[]): SessionEvent {
  const lost = stopped.filter(({ row }) => orphans.includes(row));
  if (lost.length > 0) {
    const executions = lost.map(({ row: { executionId, attempt }, problem }) => ({
      executionId,
      attempt,
      reason: 'crash' as const,
      content: { error: problem },
    }));
    return { type: 'tool.outcomeUnknown', executions };
  }
  const failed = stopped.filter(({ row }) => row.status === 'RUNNING' && row.unknownReason === null);
  if (failed.length > 0) {
    const results = failed.map(({ row: { executionId, attempt, ...row }, problem }) => ({
      executionId,
      attempt,
      outcome: 'failed' as const,
      content: lastError(row, problem),
    }));
    return { type: 'tool.settled', results };
  }
  const content = Object.fromEntries(stopped.map(({ row, problem }) => [row.executionId, { error: problem }]));
  return { type: 'execution.held', executionIds: stopped.map(({ row }) => row.executionId), content };
}

/** Its last attempt failed, and nobody can try again here: both are told. */
function lastError(
  { errorCode, errorMessage }: Pick<ExecutionRow, 'errorCode' | 'errorMessage'>,
  problem: NotReady['problem'],
): OutcomeContent {
  const said = errorMessage === null ? '' : `${errorMessage} `;
  return { error: { code: errorCode ?? problem.code, message: `${said}It is not tried again: ${problem.message}` } };
}
