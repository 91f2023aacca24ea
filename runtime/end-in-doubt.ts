import type { OutcomeContent } from '../machines/event-content.ts';
import type { UnknownReason } from '../machines/execution-status.ts';
import type { AttemptResult } from '../machines/session-event.ts';
import type { SessionSnapshot } from '../machines/snapshot-codec.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { isRepeatable } from './tool-failure.ts';

/** Why an attempt before the latest one of a call may have acted, by execution id. */
export type Doubts = ReadonlyMap<string, UnknownReason>;

/** Calls of whose earlier attempts one may have acted. */
export function doubtsOf({ context: { calls } }: SessionSnapshot): Doubts {
  return new Map(calls.flatMap(({ executionId, doubt }) => (doubt === undefined ? [] : [[executionId, doubt]])));
}

const WHY: Record<UnknownReason, string> = {
  crash: 'its process died',
  lease: 'its process lost the session',
  timeout: 'it did not answer in time',
  reported: 'its tool did not know',
};

/**
 * The end of a call whose last attempt failed. Where an attempt before it may have acted, it is not told as failed: a repeatable call is given
 * up with its outcome unknown, and of any other the machine makes one about which a person is asked.
 */
export function failedResult(
  { executionId, attempt, effect }: Pick<ExecutionRow, 'executionId' | 'attempt' | 'effect'>,
  content: OutcomeContent,
  doubt: UnknownReason | undefined,
): AttemptResult {
  if (doubt === undefined) return { executionId, attempt, outcome: 'failed', content };
  const outcome = isRepeatable({ effect }) ? 'timedOut' : 'failed';
  return { executionId, attempt, outcome, content: inDoubt(attempt, content, doubt) };
}

/** What is known of a call whose attempt `attempt` failed, while one before it may have acted. */
export function inDoubt(attempt: number, { error, ...content }: OutcomeContent, doubt: UnknownReason): OutcomeContent {
  const message = `An attempt before it may have acted: ${WHY[doubt]}. Attempt ${attempt} failed: ${error?.message ?? 'no reason was given'}`;
  return { ...content, error: { code: 'TOOL_OUTCOME_UNKNOWN', message } };
}
