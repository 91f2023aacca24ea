import { type ErrorCode, TurnlockError } from '../errors.ts';
import { type Limits, MAX_CHARACTERS } from '../limits.ts';
import type { OutcomeContent } from '../machines/event-content.ts';
import { isSettled } from '../machines/execution-status.ts';
import type { Intent } from '../persistence/commit-request.ts';
import { readExecution } from '../persistence/read-execution.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import type { Store } from '../persistence/session-transaction.ts';
import { checkIdentifier } from '../persistence/values/check-identifier.ts';
import { checkUuid } from '../persistence/values/check-uuid.ts';
import { kindOf } from '../persistence/values/kind-of.ts';
import { normaliseJson } from '../persistence/values/normalise-json.ts';
import { normaliseText } from '../persistence/values/normalise-text.ts';
import { checkRoles, checkWho } from './check-message.ts';
import { checkOptions } from './check-options.ts';

/** Who settles a call. */
export interface Settling {
  /** Who it is, as the audit will say it: 1 to 255 characters. The host vouches for it. */
  by: string;
  /** Roles of that person: where the policy named approvers for the call, they settle it too. Default none. */
  roles?: readonly string[];
  /**
   * The user that this person is, where `by` may be another name of his: 1 to 255 characters. `notUser` of the policy keeps the user of the
   * session out by this one too. Default: `by` alone is held against it.
   */
  userId?: string;
  /**
   * The question that is answered, as `awaiting` and the `onAwaiting` hook name it: a settlement that comes late does not settle what came of a
   * later attempt. Default: whatever is asked about the call now, and also a call about which nothing is asked.
   */
  approvalId?: string;
}

/** How a person settles a call. */
export type Settlement = Settling &
  (
    | /** It happened: `output` is what the tool would have returned; default `null`. */
    { outcome: 'succeeded'; output?: unknown }
    /** It did not happen: the model is told `reason`. */
    | { outcome: 'failed'; reason: string }
    /** Nobody can tell, or it did not happen: run it again with the same idempotency key. */
    | { outcome: 'runAgain' }
  );

/** A settlement that can be committed. */
export interface CheckedSettlement {
  outcome: Settlement['outcome'];
  by: string;
  roles: string[];
  /** The question that it answers; `null` where the host does not say. */
  answers: string | null;
  /** The user that the person is; `null` where the host does not say. */
  userId: string | null;
  content: OutcomeContent;
}

/** What goes with each outcome: a name that is ignored could be an output that is lost. */
const OWN_OPTIONS: Record<Settlement['outcome'], string[]> = {
  succeeded: ['output'],
  failed: ['reason'],
  runAgain: [],
};

const OF_USER = { name: 'userId', maxCharacters: MAX_CHARACTERS.userId };

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
  checkOptions(settlement, 'settle', [
    'outcome',
    'by',
    'roles',
    'userId',
    'approvalId',
    ...(OWN_OPTIONS[outcome] ?? []),
  ]);
  const { approvalId } = settlement;
  const answers = approvalId === undefined ? null : checkUuid(approvalId, 'approvalId');
  const userId = settlement.userId === undefined ? null : checkIdentifier(settlement.userId, OF_USER);
  const who = { by: checkWho(settlement.by), roles: checkRoles(settlement.roles), answers, userId };
  switch (outcome) {
    case 'succeeded': {
      const bounds = { maxBytes: limits.maxOutputBytes, maxDepth: limits.maxDepth, name: 'output' };
      const { value, notes } = normaliseJson(settlement.output ?? null, bounds);
      return { outcome, ...who, content: { output: value, normalised: notes } };
    }
    case 'failed':
      return { outcome, ...who, content: reasonContent('TOOL_FAILED', settlement.reason, limits) };
    case 'runAgain':
      return { outcome, ...who, content: {} };
  }
}

/** A settlement as the session takes it. */
export function settledEvent(
  executionId: string,
  { outcome, by, roles, answers, userId, content }: CheckedSettlement,
): Extract<Intent, { type: 'settleByPerson' }> {
  const who = roles.length === 0 ? { by } : { by, roles };
  const event = { type: 'execution.settledByPerson', executionId, outcome, ...who, content } as const;
  return { type: 'settleByPerson', event, answers, userId };
}

/** A person's reason as the outcome of a call. @throws VALUE_INVALID, VALUE_TOO_LARGE. */
export function reasonContent(code: ErrorCode, reason: string, { maxErrorBytes }: Limits): OutcomeContent {
  const { value: message, notes } = normaliseText(reason, { maxBytes: maxErrorBytes, name: 'reason' });
  if (message.trim() === '') {
    throw new TurnlockError('VALUE_INVALID', {
      message: 'value not accepted: reason (found a text without words, wanted what the model is to be told)',
    });
  }
  return { error: { code, message }, normalised: notes };
}

/** Why the machine did not take a settlement, in words that help. */
export async function whyNotSettled(
  store: Store,
  key: SessionKey,
  executionId: string,
  cause: TurnlockError,
  outcome: Settlement['outcome'],
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
  if (outcome === 'runAgain' && execution.status === 'PENDING') {
    return new TurnlockError('OUTCOME_INVALID', {
      message: `outcome not accepted: runAgain of execution ${executionId} (found a call that has never run, wanted succeeded or failed)`,
      hint: 'A call that waits for approval runs once it is approved.',
      details,
      cause,
    });
  }
  return new TurnlockError('EXECUTION_RUNNING', {
    message: `execution is running: ${executionId} (found attempt ${execution.attempt} under way, wanted one that waits for a person)`,
    details,
    cause,
  });
}
