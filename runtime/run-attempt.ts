import type { Tool } from '../adapters/tools/tool.contract.ts';
import { isTurnlockError, TurnlockError } from '../errors.ts';
import type { OutcomeContent } from '../machines/event-content.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { normaliseJson } from '../persistence/values/normalise-json.ts';
import { placeholderFor } from '../persistence/values/placeholder.ts';
import type { DriveContext } from './drive-context.ts';
import { failureOf, isRepeatable, type ToolFailure } from './tool-failure.ts';
import { presentParams } from './upgrade-params.ts';

/** How an attempt of a tool ended, as far as this process can say. */
export type AttemptEnd =
  | { type: 'succeeded'; content: OutcomeContent }
  /** It threw: failed for good, failed and to be tried again, or its tool says that it does not know. */
  | ToolFailure
  /** Its time was over and it did not say how it ended, not within the grace period either. */
  | { type: 'timedOut' }
  /** The drive was aborted meanwhile: nothing is decided here. */
  | { type: 'abandoned' };

/** Milliseconds on the monotonic clock at which an attempt must end: read before its start was committed, so never too late. */
export interface AttemptBudget {
  startedAt: number;
  timeoutMs: number;
}

/**
 * Calls the tool of one attempt whose start is committed, holding no connection and no lock.
 *
 * At the deadline its signal aborts; what it returns within the grace period is still a fact and counts. What it throws after its
 * signal aborted says nothing about the act, so it does not count as a failure; nor does a `ToolError` that
 * says the outcome is unknown.
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
  const timedOut = (async (): Promise<AttemptEnd> => {
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
    return first;
  } finally {
    over.abort();
  }
}

/** The time was over before the tool was called, so it is known that it did not act: a repeatable call has its next attempt. */
function neverCalled(execution: ExecutionRow): AttemptEnd {
  if (isRepeatable(execution)) return { type: 'timedOut' };
  return failed('TOOL_TIMED_OUT', 'Its time was over before it was called: nothing was done.');
}

/** Nobody waits for the tool any more: what it still returns is kept. What it throws once its signal aborted says nothing. */
function keepLater(drive: DriveContext, execution: ExecutionRow, end: Promise<AttemptEnd>): void {
  void end.then(
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

function aborted(signal: AbortSignal, over: AbortSignal): Promise<AttemptEnd> {
  return new Promise((resolve) => {
    const abandon = () => resolve({ type: 'abandoned' });
    if (signal.aborted) abandon();
    signal.addEventListener('abort', abandon, { once: true, signal: over });
  });
}

async function callTool(drive: DriveContext, execution: ExecutionRow, signal: AbortSignal): Promise<AttemptEnd> {
  // This process committed its start, so it has the tool.
  const tool = drive.agent.tools.get(execution.toolName) as Tool;
  const { tenantId, userId, sessionId } = drive.session;
  let returned: unknown;
  try {
    const insideEffect = drive.environment.faultPoint('insideEffect', {
      sessionId,
      executionId: execution.executionId,
    });
    if (insideEffect !== undefined) await insideEffect;
    returned = await tool.execute(structuredClone(presentParams(execution).params), {
      idempotencyKey: execution.idempotencyKey,
      fencingToken: drive.token,
      signal,
      tenantId,
      userId,
      sessionId,
      runId: execution.runId,
      executionId: execution.executionId,
      attempt: execution.attempt,
    });
  } catch (thrown) {
    if (signal.aborted) return { type: 'timedOut' };
    return failureOf({ ...drive, tool, execution }, thrown);
  }
  return { type: 'succeeded', content: storableOutput(drive, returned) };
}

function failed(code: string, message: string): AttemptEnd {
  return { type: 'failed', content: { error: { code, message } } };
}

/** A tool that returned something that cannot be stored still ran: its output is a truthful placeholder, and it is not run again. */
function storableOutput({ limits }: DriveContext, returned: unknown): OutcomeContent {
  try {
    const { value, notes } = normaliseJson(returned ?? null, {
      maxBytes: limits.maxOutputBytes,
      maxDepth: limits.maxDepth,
      name: 'output',
    });
    return { output: value, normalised: notes };
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    return { output: placeholderFor(returned, error) };
  }
}
