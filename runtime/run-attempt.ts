import type { Tool } from '../adapters/tools/tool.contract.ts';
import { TurnlockError } from '../errors.ts';
import type { OutcomeContent } from '../machines/event-content.ts';
import { paramsProblem, presentParams } from '../persistence/present-params.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { isTransactional } from './act-in-commit.ts';
import type { DriveContext } from './drive-context.ts';
import { returnedBy } from './returned-by.ts';
import { toolContext } from './tool-context.ts';
import { failureOf, isRepeatable, type ToolFailure } from './tool-failure.ts';
import { outputContent } from './tool-output.ts';

/** How an attempt of a tool ended, as far as this process can say. */
export type AttemptEnd =
  | { type: 'succeeded'; content: OutcomeContent }
  /** It threw: failed for good, failed and to be tried again, or its tool says that it does not know. */
  | ToolFailure
  /** Its time was over and it did not say how it ended, not within the grace period either. */
  | { type: 'timedOut' }
  /** The drive was aborted meanwhile: nothing is decided here. */
  | { type: 'abandoned' };

/** How the call of a tool ended, before its output is looked at. */
type Acted = Exclude<AttemptEnd, { type: 'succeeded' }> | { type: 'returned'; tool: Tool; returned: unknown };

/** Milliseconds on the monotonic clock at which an attempt must end: read before its start was committed, so never too late. */
export interface AttemptBudget {
  startedAt: number;
  timeoutMs: number;
}

/**
 * Calls the tool of one attempt whose start is committed, holding no connection and no lock.
 *
 * At the deadline its signal aborts; what it returns within the grace period is still a fact and counts. What it throws after its
 * signal aborted says nothing about the act, so it does not count as a failure; nor does a `ToolError` that says the outcome is unknown,
 * nor an answer that was lost.
 */
export async function runAttempt(
  drive: DriveContext,
  execution: ExecutionRow,
  budget: AttemptBudget,
): Promise<AttemptEnd> {
  const { environment, limits } = drive;
  const { executionId } = execution;
  await environment.faultPoint('beforeEffect', { sessionId: drive.session.sessionId, executionId });
  const leftMs = budget.startedAt + budget.timeoutMs - environment.monotonic();
  if (drive.signal.aborted) return { type: 'abandoned' };
  if (leftMs <= 0) return neverCalled(execution);
  const deadline = new AbortController();
  const signal = AbortSignal.any([drive.signal, deadline.signal]);
  const over = new AbortController();
  const end = callTool(drive, execution, signal);
  const timedOut = (async (): Promise<Acted> => {
    await environment.sleep(leftMs, over.signal);
    deadline.abort(new TurnlockError('TOOL_TIMED_OUT', { message: `tool ran out of time: ${execution.toolName}` }));
    await environment.sleep(limits.graceMs, over.signal);
    return { type: 'timedOut' };
  })();
  timedOut.catch(() => undefined);
  try {
    const first = await Promise.race([end, timedOut, aborted(drive.signal, over.signal)]);
    if (first.type === 'timedOut' || first.type === 'abandoned') keepLater(drive, execution, end);
    await environment.faultPoint('afterEffect', { sessionId: drive.session.sessionId, executionId });
    return await endOf(drive, first);
  } finally {
    over.abort();
  }
}

/**
 * The time was over before the tool was called, so it is known that it did not act: a repeatable call has its next attempt, and so has a
 * reconcilable one, which will say so.
 */
function neverCalled(execution: ExecutionRow): AttemptEnd {
  if (isRepeatable(execution) || execution.effect === 'reconcilable') return { type: 'timedOut' };
  return failed('TOOL_TIMED_OUT', 'Its time was over before it was called: nothing was done.');
}

/** Nobody waits for the tool any more: what it still returns is kept. What it throws once its signal aborted says nothing. */
function keepLater(drive: DriveContext, execution: ExecutionRow, end: Promise<Acted>): void {
  void end
    .then((late) => endOf(drive, late))
    .then(
      (late) => keepEnd(drive, execution, late),
      () => undefined,
    );
}

/** Keeps as evidence what is known of an attempt whose end could not be committed. One that may be repeated runs again where it failed. */
export function keepEnd(drive: DriveContext, execution: ExecutionRow, end: AttemptEnd): void {
  const { executionId, attempt } = execution;
  if (end.type === 'attemptFailed' && isRepeatable(execution)) return;
  if (end.type !== 'succeeded' && end.type !== 'failed' && end.type !== 'attemptFailed') return;
  const outcome = end.type === 'succeeded' ? 'succeeded' : 'failed';
  drive.keep({ executionId, attempt, outcome, content: end.content });
}

function aborted(signal: AbortSignal, over: AbortSignal): Promise<Acted> {
  return new Promise((resolve) => {
    const abandon = () => resolve({ type: 'abandoned' });
    if (signal.aborted) abandon();
    signal.addEventListener('abort', abandon, { once: true, signal: over });
  });
}

async function callTool(drive: DriveContext, execution: ExecutionRow, signal: AbortSignal): Promise<Acted> {
  // This process committed its start, so it has the tool.
  const tool = drive.agent.tools.get(execution.toolName) as Tool;
  if (isTransactional(tool)) {
    return failed('TOOL_UNKNOWN', `${tool.name} has become transactional since the call was made: it was not run.`);
  }
  const { executionId } = execution;
  const present = presentParams(execution);
  const problem = paramsProblem(present);
  if (problem !== null) return failed(problem.code, `${problem.message} It was not run.`);
  try {
    const insideEffect = drive.environment.faultPoint('insideEffect', {
      sessionId: drive.session.sessionId,
      executionId,
    });
    if (insideEffect !== undefined) await insideEffect;
    const params = structuredClone(present.params);
    const { value } = await returnedBy(tool.execute(params, toolContext(drive, execution, signal)));
    return { type: 'returned', tool, returned: value };
  } catch (thrown) {
    if (signal.aborted) return { type: 'timedOut' };
    return failureOf({ ...drive, tool, execution }, thrown);
  }
}

/** What the tool returned, in the form in which it is stored. Its time is over by then: the act has happened. */
async function endOf(drive: DriveContext, acted: Acted): Promise<AttemptEnd> {
  if (acted.type !== 'returned') return acted;
  return { type: 'succeeded', content: await outputContent(drive, acted.tool, acted.returned) };
}

function failed(code: string, message: string): Extract<AttemptEnd, { type: 'failed' }> {
  return { type: 'failed', content: { error: { code, message } } };
}
