import type { HeldContent, OutcomeContent, UpgradedParams } from '../machines/event-content.ts';
import type { EventOf, SessionEvent } from '../machines/session-event.ts';
import { presentParams } from '../persistence/present-params.ts';
import { PLAIN_QUESTION } from '../persistence/project-rounds.ts';
import { hasLeave } from '../persistence/read-grant.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import type { DriveContext } from './drive-context.ts';
import { type Doubts, failedResult } from './end-in-doubt.ts';
import { keyToday } from './guards-of.ts';
import { approvalHolds, type NotReady, paramsToRun, type ReadyParams } from './upgrade-params.ts';

/** Starts with params as today's tools take them, by execution id; or what is to be committed instead. */
export type Prepared =
  | { event: EventOf<'execution.started'>; ready: ReadonlyMap<string, ReadyParams> }
  | { instead: SessionEvent };

interface Stopped {
  row: ExecutionRow;
  problem: NotReady['problem'];
  /** Where it could run, and nobody gave leave for what it would run with. */
  upgrade?: UpgradedParams;
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
    if (await isOverruled(drive, row, params)) {
      stopped.push({ row, problem: OVERRULED, ...(params.upgrade !== null && { upgrade: params.upgrade }) });
      continue;
    }
    const tool = drive.agent.tools.get(row.toolName);
    const key = tool === undefined ? null : keyToday(drive, tool, row, params.params);
    if (key !== null && 'problem' in key) {
      stopped.push({ row, problem: key.problem });
      continue;
    }
    const upgraded = params.upgrade === null ? started : { ...started, upgrade: params.upgrade };
    ready.set(row.executionId, params);
    executions.push(key === null ? upgraded : { ...upgraded, content: { once: key } });
  }
  if (stopped.length > 0) return { instead: stop(stopped, orphans, doubts) };
  // What takes another business key may be refused by the commit, and one event has one answer: it starts alone.
  const rekeyed = executions.find(({ content }) => content !== undefined);
  return { event: { ...event, executions: rekeyed === undefined ? executions : [rekeyed] }, ready };
}

/** What is said where nobody gave leave for what an attempt would run with. */
const OVERRULED: NotReady['problem'] = {
  code: 'UPGRADE_FAILED',
  message: 'An upgrade changes the params for which a person has let it run.',
};

/**
 * Whether a further attempt has other params than those for which a person let the call run. Whether the first one may start is decided with
 * its policy.
 */
async function isOverruled(drive: DriveContext, row: ExecutionRow, params: ReadyParams): Promise<boolean> {
  const tool = drive.agent.tools.get(row.toolName);
  if (row.attempt === 0 || params.upgrade === null || tool === undefined) return false;
  if (approvalHolds(tool, params, presentParams(row).digest)) return false;
  return await hasLeave(drive.store, drive.session, row.executionId);
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
  const content = Object.fromEntries(stopped.map(({ row, ...why }) => [row.executionId, askedAbout(why)]));
  return { type: 'execution.held', executionIds: stopped.map(({ row }) => row.executionId), content };
}

function askedAbout({ problem, upgrade }: Omit<Stopped, 'row'>): HeldContent {
  const asked = { ...PLAIN_QUESTION, question: problem.message };
  return upgrade === undefined ? { ...asked, error: problem } : { ...asked, upgrade };
}

/** Its last attempt failed, and nobody can try again here: both are told. */
function lastError(
  { errorCode, errorMessage }: Pick<ExecutionRow, 'errorCode' | 'errorMessage'>,
  problem: NotReady['problem'],
): OutcomeContent {
  const said = errorMessage === null ? '' : `${errorMessage} `;
  return { error: { code: errorCode ?? problem.code, message: `${said}It is not tried again: ${problem.message}` } };
}
