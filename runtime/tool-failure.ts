import type { Tool } from '../adapters/tools/tool.contract.ts';
import { isToolError, type ToolError } from '../adapters/tools/tool-error.ts';
import type { Environment } from '../environment.ts';
import { isTurnlockError } from '../errors.ts';
import type { Limits } from '../limits.ts';
import type { OutcomeContent } from '../machines/event-content.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';

/** A receiver that asks for more is asked again after this time all the same: a wrong header must not park a call for days. */
const MAX_RETRY_AFTER_MS = 10 * 60_000;

/** What was thrown by a tool, as far as it tells how the attempt ended. */
export type ToolFailure =
  | { type: 'failed'; content: OutcomeContent }
  | { type: 'attemptFailed'; retryInMs: number; content: OutcomeContent }
  | { type: 'unknown'; content: OutcomeContent };

/** What a failure is judged by. */
interface Failing {
  environment: Pick<Environment, 'random'>;
  limits: Limits;
  tool: Tool;
  execution: Pick<ExecutionRow, 'attempt' | 'effect'>;
}

/** Whether a further attempt with the same key does no harm, whatever became of the one before. */
export function isRepeatable({ effect }: { effect: string }): boolean {
  return effect === 'readOnly' || effect === 'idempotent';
}

/**
 * How an attempt ended that threw. What is known to have failed is tried again where the tool declares `retry`, has attempts left, and
 * either says so itself ({@link ToolError} with `retryable`) or threw something else and a repeat does no harm.
 */
export function failureOf(failing: Failing, thrown: unknown): ToolFailure {
  const said = isToolError(thrown) ? thrown : null;
  const isUnknown = said?.outcome === 'unknown' || isTurnlockError(thrown, 'TOOL_OUTCOME_UNKNOWN');
  const { message, notes } = normaliseError(thrown, failing.limits);
  const code = isUnknown && said === null ? 'TOOL_OUTCOME_UNKNOWN' : codeOf(said);
  const content = { error: { code, message }, normalised: notes };
  const retryInMs = retriesIn(failing, said);
  if (retryInMs !== null && (!isUnknown || isRepeatable(failing.execution))) {
    return { type: 'attemptFailed', retryInMs, content };
  }
  return { type: isUnknown ? 'unknown' : 'failed', content };
}

/** A code that does not fit its column is none. */
function codeOf(said: ToolError | null): string {
  const code: unknown = said?.code;
  return typeof code === 'string' && /^[\w.:-]{1,64}$/.test(code) ? code : 'TOOL_FAILED';
}

function retriesIn({ environment, tool, execution }: Failing, said: ToolError | null): number | null {
  const { retry } = tool;
  if (retry === null || execution.attempt >= retry.attempts) return null;
  const isWanted =
    said === null
      ? isRepeatable(execution) || execution.effect === 'transactional'
      : said.retryable === true || said.outcome === 'unknown';
  if (!isWanted) return null;
  const { initialMs, factor, maxMs, jitter } = retry.backoff;
  const spread = 1 - jitter + 2 * jitter * environment.random();
  const backoffMs = Math.min(maxMs, initialMs * factor ** (execution.attempt - 1)) * spread;
  const askedMs: unknown = said?.retryAfterMs;
  const leastMs = typeof askedMs === 'number' && askedMs > 0 ? Math.min(askedMs, MAX_RETRY_AFTER_MS) : 0;
  return Math.round(Math.max(backoffMs, leastMs));
}
