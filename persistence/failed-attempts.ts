import type { OutcomeContent } from '../machines/event-content.ts';
import { isSettled } from '../machines/execution-status.ts';
import { type OpenCall, waitsForPerson, waitsToRetry } from '../machines/open-calls.ts';
import type { SessionEvent } from '../machines/session-event.ts';
import type { ExecutionProgress, ExecutionRow, RowChanges } from './row-changes.ts';

/** What a call whose last attempt failed loses when the next one starts. */
export const NOT_FAILED: Partial<ExecutionProgress> = { errorMessage: null, errorCode: null, retryAt: null };

/** What is known of an attempt that failed and is retried: why, and when the next one begins. */
export function failureOf(event: SessionEvent, executionId: string, now: Date): Partial<ExecutionProgress> {
  const results = event.type === 'tool.attemptFailed' ? event.results : [];
  const failed = results.find((result) => result.executionId === executionId);
  return { ...errorColumns(failed?.content), retryAt: new Date(now.getTime() + (failed?.retryInMs ?? 0)) };
}

/** What was said of an attempt with which the outcome of its call became unknown; `undefined` where it did not by this event. */
export function unknownContent(event: SessionEvent, executionId: string): OutcomeContent | undefined {
  switch (event.type) {
    case 'tool.outcomeUnknown':
      return event.executions.find((unknown) => unknown.executionId === executionId)?.content;
    case 'tool.settled':
    case 'tool.evidenced':
      return event.results.find((result) => result.executionId === executionId)?.content;
    default:
      return undefined;
  }
}

/** What stands on a call whose outcome became unknown. */
export function reportOf(event: SessionEvent, executionId: string): Partial<ExecutionProgress> {
  return errorColumns(unknownContent(event, executionId));
}

function errorColumns(content?: OutcomeContent): Partial<ExecutionProgress> {
  const { error } = content ?? {};
  return error === undefined ? {} : { errorMessage: error.message, errorCode: error.code };
}

/** When the session owes something again, where all that its calls owe are retries; `null` where something is owed at once, or nothing. */
export function firstRetryAt(
  calls: readonly OpenCall[],
  before: readonly ExecutionRow[],
  { updatedExecutions }: Pick<RowChanges, 'updatedExecutions'>,
): Date | null {
  const owed = calls.filter((call) => !isSettled(call.status) && !waitsForPerson(call));
  if (owed.length === 0 || !owed.every(waitsToRetry)) return null;
  const rows = new Map(before.map((row) => [row.executionId, row]));
  const times = owed.map(({ executionId }) => {
    const retryAt = updatedExecutions.get(executionId)?.retryAt ?? rows.get(executionId)?.retryAt;
    return retryAt?.getTime() ?? 0;
  });
  return new Date(Math.min(...times));
}
