import { type ErrorCode, TurnlockError } from '../errors.ts';
import type { Limits } from '../limits.ts';
import type { OutcomeContent } from '../machines/event-content.ts';
import { isSettled } from '../machines/execution-status.ts';
import { readExecution } from '../persistence/read-execution.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import type { Store } from '../persistence/session-transaction.ts';
import { kindOf } from '../persistence/values/kind-of.ts';
import { normaliseJson } from '../persistence/values/normalise-json.ts';
import { normaliseText } from '../persistence/values/normalise-text.ts';
import { checkWho } from './check-message.ts';
import { checkOptions } from './check-options.ts';

/** How a person settles a call. */
export type Settlement =
  /** It happened: `output` is what the tool would have returned; default `null`. */
  | { outcome: 'succeeded'; output?: unknown; by: string }
  /** It did not happen: the model is told `reason`. */
  | { outcome: 'failed'; reason: string; by: string }
  /** Nobody can tell, or it did not happen: run it again with the same idempotency key. */
  | { outcome: 'runAgain'; by: string };

/** A settlement that can be committed. */
export interface CheckedSettlement {
  outcome: Settlement['outcome'];
  by: string;
  content: OutcomeContent;
}

/** What goes with each outcome: a name that is ignored could be an output that is lost. */
const OWN_OPTIONS: Record<Settlement['outcome'], string[]> = {
  succeeded: ['output'],
  failed: ['reason'],
  runAgain: [],
};

const OUTCOMES: readonly unknown[] = ['succeeded', 'failed', 'runAgain'];

/** @throws OUTCOME_INVALID, VALUE_INVALID, VALUE_TOO_LARGE. */
export function checkSettlement(settlement: Settlement, limits: Limits): CheckedSettlement {
  const outcome = settlement?.outcome;
  if (!OUTCOMES.includes(outcome)) {
    const found = typeof outcome === 'string' ? JSON.stringify(outcome) : kindOf(outcome);
    throw new TurnlockError('OUTCOME_INVALID', {
      message: `outcome not accepted: settlement (found ${found}, wanted ${OUTCOMES.join(', ')})`,
    });
  }
  checkOptions(settlement, 'settle', ['outcome', 'by', ...(OWN_OPTIONS[outcome] ?? [])]);
  const by = checkWho(settlement.by);
  switch (outcome) {
    case 'succeeded': {
      const bounds = { maxBytes: limits.maxOutputBytes, maxDepth: limits.maxDepth, name: 'output' };
      const { value, notes } = normaliseJson(settlement.output ?? null, bounds);
      return { outcome, by, content: { output: value, normalised: notes } };
    }
    case 'failed':
      return { outcome, by, content: reasonContent('TOOL_FAILED', settlement.reason, limits) };
    case 'runAgain':
      return { outcome, by, content: {} };
  }
}

/** A person's reason as the outcome of a call. @throws VALUE_INVALID, VALUE_TOO_LARGE. */
export function reasonContent(code: ErrorCode, reason: string, { maxErrorBytes }: Limits): OutcomeContent {
  const { value: message, notes } = normaliseText(reason, { maxBytes: maxErrorBytes, name: 'reason' });
  return { error: { code, message }, normalised: notes };
}

/** Why the machine did not take a settlement, in words that help. */
export async function whyNotSettled(
  store: Store,
  key: SessionKey,
  executionId: string,
  cause: TurnlockError,
): Promise<TurnlockError> {
  const execution = await readExecution(store, key, executionId);
  const details = { executionId, sessionId: key.sessionId };
  if (execution === null) {
    return new TurnlockError('EXECUTION_NOT_FOUND', {
      message: `execution not found: ${executionId} (wanted one of session ${key.sessionId})`,
      details,
      cause,
    });
  }
  if (isSettled(execution.status)) {
    const who = execution.settledBy === null ? 'its tool' : execution.settledBy;
    const found = `found ${execution.status} by ${who} at ${execution.completedAt?.toISOString()}`;
    // Only an outcome can be said of it: the model has been answered, so it does not run again.
    const wanted = execution.status === 'TIMED_OUT' ? ', wanted succeeded or failed as outcome' : '';
    return new TurnlockError('EXECUTION_SETTLED', {
      message: `execution is settled already: ${executionId} (${found}${wanted})`,
      details: { ...details, status: execution.status, settledBy: execution.settledBy },
      cause,
    });
  }
  return new TurnlockError('EXECUTION_RUNNING', {
    message: `execution is running: ${executionId} (found attempt ${execution.attempt} under way, wanted one that waits for a person)`,
    details,
    cause,
  });
}
