import type { Tool } from '../adapters/tools/tool.contract.ts';
import { isToolError, isToolErrorRefused } from '../adapters/tools/tool-error.ts';
import type { Environment } from '../environment.ts';
import { isTurnlockError } from '../errors.ts';
import type { Limits } from '../limits.ts';
import type { OutcomeContent } from '../machines/event-content.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';
import { answerWasLost } from './answer-was-lost.ts';

/** A receiver that asks for more is asked again after this time all the same: a wrong header must not park a call for days. */
const MAX_RETRY_AFTER_MS = 10 * 60_000;

/** What was thrown by a tool, as far as it tells how the attempt ended. */
export type ToolFailure =
  | { type: 'failed'; content: OutcomeContent }
  /** To be tried again. `isUnknown`: it may have acted all the same. */
  | { type: 'attemptFailed'; retryInMs: number; isUnknown: boolean; content: OutcomeContent }
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

/** What a tool said by a `ToolError`, as far as it can be read. */
interface Said {
  outcome: unknown;
  retryable: unknown;
  retryAfterMs: unknown;
  code: unknown;
}

/**
 * How an attempt ended that threw. What failed is tried again where the tool declares `retry`, has attempts left, and either says so itself
 * (`ToolError` with `retryable`) or threw something else and a repeat does no harm.
 *
 * An outcome that a `ToolError` names and that is none counts as unknown. What else is thrown says that the act was not done, unless
 * it is the loss of an answer ({@link answerWasLost}) and there is an act that may have happened.
 */
export function failureOf(failing: Failing, thrown: unknown): ToolFailure {
  const said = saidBy(thrown);
  const isUnknown = said === null ? saysNothing(failing, thrown) : said.outcome !== 'failed';
  const { message, notes } = normaliseError(thrown, failing.limits);
  const code = isUnknown && said === null ? 'TOOL_OUTCOME_UNKNOWN' : codeOf(said);
  const content = { error: { code, message }, normalised: notes };
  const retryInMs = retriesIn(failing, said);
  if (retryInMs !== null && (!isUnknown || isRepeatable(failing.execution))) {
    return { type: 'attemptFailed', retryInMs, isUnknown, content };
  }
  return { type: isUnknown ? 'unknown' : 'failed', content };
}

/** Nothing of a transactional tool is left, and a readOnly one does nothing: of these, what is thrown is always a failure. */
function saysNothing({ execution: { effect } }: Failing, thrown: unknown): boolean {
  if (isOutcomeUnknown(thrown)) return true;
  return effect !== 'readOnly' && effect !== 'transactional' && (answerWasLost(thrown) || isToolErrorRefused(thrown));
}

function isOutcomeUnknown(thrown: unknown): boolean {
  try {
    return isTurnlockError(thrown, 'TOOL_OUTCOME_UNKNOWN');
  } catch {
    return false; // a getter may throw
  }
}

function saidBy(thrown: unknown): Said | null {
  if (!isToolError(thrown)) return null;
  const read = (name: keyof Said): unknown => {
    try {
      return thrown[name];
    } catch {
      return undefined;
    }
  };
  const [outcome, retryable, retryAfterMs, code] = [
    read('outcome'),
    read('retryable'),
    read('retryAfterMs'),
    read('code'),
  ];
  return { outcome, retryable, retryAfterMs, code };
}

/** A code that does not fit its column is none. */
function codeOf(said: Said | null): string {
  const code = said?.code;
  return typeof code === 'string' && /^[\w.:-]{1,64}$/.test(code) ? code : 'TOOL_FAILED';
}

function retriesIn({ environment, tool, execution }: Failing, said: Said | null): number | null {
  const { retry } = tool;
  if (retry === null || execution.attempt >= retry.attempts) return null;
  const isWanted =
    said === null
      ? isRepeatable(execution) || execution.effect === 'transactional'
      : said.retryable === true || said.outcome !== 'failed';
  if (!isWanted) return null;
  const { initialMs, factor, maxMs, jitter } = retry.backoff;
  const spread = 1 - jitter + 2 * jitter * environment.random();
  const backoffMs = Math.min(maxMs, initialMs * factor ** (execution.attempt - 1)) * spread;
  const askedMs = said?.retryAfterMs;
  const leastMs = typeof askedMs === 'number' && askedMs > 0 ? Math.min(askedMs, MAX_RETRY_AFTER_MS) : 0;
  return Math.round(Math.max(backoffMs, leastMs));
}
