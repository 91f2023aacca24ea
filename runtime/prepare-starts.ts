import type { HeldContent, OutcomeContent } from '../machines/event-content.ts';
import type { EventOf, SessionEvent } from '../machines/session-event.ts';
import { PLAIN_QUESTION } from '../persistence/project-rounds.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import type { DriveContext } from './drive-context.ts';
import { type Doubts, failedResult } from './end-in-doubt.ts';
import { type NotReady, paramsToRun, type ReadyParams } from './upgrade-params.ts';

/** Starts with params as today's tools take them, by execution id; or what is to be committed instead. */
export type Prepared =
  | { event: EventOf<'execution.started'>; ready: ReadonlyMap<string, ReadyParams> }
  | { instead: SessionEvent };

interface Stopped {
  row: ExecutionRow;
  problem: NotReady['problem'];
}

/**
 * Makes the params ready with which calls start; `orphans` are those whose last attempt was lost.
 *
 * What cannot run in this build comes first, since no call starts while a person is asked about a sibling: a call that never started, or
 * that a person sent again, waits for a person; one whose attempt was lost has an unknown outcome; one whose last attempt failed has
 * failed for good, unless one before it may have acted.
 */
export async function prepareStarts(
  drive: DriveContext,
  event: EventOf<'execution.started'>,
  { orphans, due, doubts }: { orphans: readonly ExecutionRow[]; due: readonly ExecutionRow[]; doubts: Doubts },
): Promise<Prepared> {
  const rows = [...orphans, ...due];
  const ready = new Map<string, ReadyParams>();
  const stopped: Stopped[] = [];
  const executions = [];
  for (const started of event.executions) {
    const row = rows.find(({ executionId }) => executionId === started.executionId) as ExecutionRow;
    const params = await paramsToRun(drive, drive.agent.tools.get(row.toolName), row);
    if ('problem' in params) {
      stopped.push({ row, problem: params.problem });
      continue;
    }
    ready.set(row.executionId, params);
    executions.push(params.upgrade === null ? started : { ...started, upgrade: params.upgrade });
  }
  return stopped.length > 0 ? { instead: stop(stopped, orphans, doubts) } : { event: { ...event, executions }, ready };
}

function stop(stopped: readonly Stopped[], orphans: readonly ExecutionRow[], doubts: Doubts): SessionEvent {
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
    const results = failed.map(({ row, problem }) =>
      failedResult(row, lastError(row, problem), doubts.get(row.executionId)),
    );
    return { type: 'tool.settled', results };
  }
  const content = Object.fromEntries(stopped.map(({ row, problem }) => [row.executionId, askedAbout(problem)]));
  return { type: 'execution.held', executionIds: stopped.map(({ row }) => row.executionId), content };
}

function askedAbout(problem: NotReady['problem']): HeldContent {
  return { ...PLAIN_QUESTION, question: problem.message, error: problem };
}

/** Its last attempt failed, and nobody can try again here: both are told. */
function lastError(
  { errorCode, errorMessage }: Pick<ExecutionRow, 'errorCode' | 'errorMessage'>,
  problem: NotReady['problem'],
): OutcomeContent {
  const said = errorMessage === null ? '' : `${errorMessage} `;
  return { error: { code: errorCode ?? problem.code, message: `${said}It is not tried again: ${problem.message}` } };
}
