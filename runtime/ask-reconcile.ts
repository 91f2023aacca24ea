import { isReconciliation } from '../adapters/tools/reconciliation.ts';
import type { ToolContext } from '../adapters/tools/tool.contract.ts';
import { TurnlockError } from '../errors.ts';
import type { Json, OutcomeContent } from '../machines/event-content.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { kindOf } from '../persistence/values/kind-of.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';
import type { DriveContext } from './drive-context.ts';
import { toolContext } from './tool-context.ts';
import { outputContent } from './tool-output.ts';
import { paramsToRun } from './upgrade-params.ts';

/** What reconcile came to. */
export type ReconcileAnswer = { type: 'done' | 'cannotTell'; content: OutcomeContent } | { type: 'notDone' };

/** The longest pause between two asks, in milliseconds. */
const MAX_PAUSE_MS = 30_000;

/**
 * Asks the tool how an attempt ended of which nothing says it, outside any transaction, with params as today's tool takes them. Each ask has the tool's time and a signal of its
 * own; one that throws, runs out of time or answers with something else is repeated after a pause, a bounded number of times.
 *
 * @returns `null` when the drive was aborted or drained meanwhile: whoever goes on asks again.
 */
export async function askReconcile(drive: DriveContext, row: ExecutionRow): Promise<ReconcileAnswer | null> {
  const { limits, environment } = drive;
  const stopped = AbortSignal.any([drive.signal, drive.draining]);
  const tool = drive.agent.tools.get(row.toolName);
  if (tool?.reconcile == null) {
    return cannotTell(`There is no reconcile of a tool named ${row.toolName} in this build.`);
  }
  const ready = await paramsToRun(drive, tool, row);
  if (stopped.aborted) return null;
  if ('problem' in ready) return cannotTell(ready.problem.message);
  let failure = '';
  for (let asked = 1; asked <= limits.maxReconcileAttempts; asked += 1) {
    try {
      return await askOnce(drive, row, ready.params, stopped);
    } catch (thrown) {
      if (stopped.aborted) return null;
      failure = normaliseError(thrown, limits).message;
    }
    if (asked === limits.maxReconcileAttempts) break;
    const pauseMs = limits.reconcileBackoffMs * 2 ** (asked - 1) * (0.5 + environment.random());
    await environment.sleep(Math.min(pauseMs, MAX_PAUSE_MS), stopped).catch(() => undefined);
    if (stopped.aborted) return null;
  }
  return cannotTell(`reconcile did not answer (asked ${limits.maxReconcileAttempts} times): ${failure}`);
}

async function askOnce(
  drive: DriveContext,
  row: ExecutionRow,
  params: Json,
  stopped: AbortSignal,
): Promise<ReconcileAnswer> {
  const { environment, limits, agent } = drive;
  const tool = agent.tools.get(row.toolName)!;
  const timeoutMs = tool.timeoutMs ?? limits.toolTimeoutMs;
  const deadline = new AbortController();
  const over = new AbortController();
  const signal = AbortSignal.any([stopped, deadline.signal]);
  const ended = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: over.signal });
    signal.throwIfAborted();
  });
  ended.catch(() => undefined);
  const timer = environment.sleep(timeoutMs, over.signal).then(() => {
    deadline.abort(
      new TurnlockError('TOOL_TIMED_OUT', {
        message: `reconcile of ${tool.name} had no answer within ${timeoutMs} ms`,
      }),
    );
  });
  timer.catch(() => undefined);
  try {
    const context: ToolContext = toolContext(drive, row, signal);
    const asking = (async () => tool.reconcile?.(structuredClone(params), context))();
    asking.catch(() => undefined);
    const answer: unknown = await Promise.race([asking, ended]);
    if (!isReconciliation(answer)) throw unusable(tool.name, answer);
    if (answer.type === 'notDone') return { type: 'notDone' };
    if (answer.type === 'cannotTell') return cannotTell(reasonOf(answer.reason, limits));
    return { type: 'done', content: await outputContent(drive, tool, answer.output) };
  } finally {
    over.abort();
  }
}

function reasonOf(reason: unknown, limits: DriveContext['limits']): string {
  return typeof reason === 'string' && reason !== ''
    ? normaliseError(reason, limits).message
    : 'reconcile cannot tell.';
}

function cannotTell(message: string): ReconcileAnswer {
  return { type: 'cannotTell', content: { error: { code: 'TOOL_OUTCOME_UNKNOWN', message } } };
}

function unusable(tool: string, answer: unknown): TurnlockError {
  return new TurnlockError('TOOL_FAILED', {
    message: `reconcile of ${tool} answered with something else (found ${kindOf(answer)}, wanted done(…), notDone() or cannotTell(…))`,
  });
}
