import { TurnlockError } from '../errors.ts';
import type { EffectClass, ExecutionStatus, UnknownReason } from './execution-status.ts';
import { isInFlight, type OpenCall, waitsForPerson, waitsToRetry } from './open-calls.ts';
import type { SessionSnapshot } from './snapshot-codec.ts';

/** What the effects of a snapshot need to know of an execution's row. */
export interface ExecutionFacts {
  executionId: string;
  status: ExecutionStatus;
  attempt: number;
  unknownReason: UnknownReason | null;
  effect: EffectClass;
}

/** Outside work that a committed snapshot owes. Data, never a closure. */
export type Effect =
  /** Ask the model; `attempt` starts at 1 and counts the failed attempts of this one call. */
  | { type: 'callModel'; runId: string; attempt: number }
  /** Commit the start of the next attempt, then run it. */
  | { type: 'startExecution'; executionId: string; attempt: number; effect: EffectClass }
  /** An attempt whose start is committed: its tool is being called, or its worker died. */
  | { type: 'runAttempt'; executionId: string; attempt: number; effect: EffectClass };

/**
 * What `snapshot` owes the outside world, in call order. Read it from committed snapshots only.
 *
 * @throws INVARIANT_BROKEN when the rows and the snapshot tell different stories.
 */
export function pendingEffects(snapshot: SessionSnapshot, executions: readonly ExecutionFacts[]): Effect[] {
  const { runId, failedModelAttempts, calls } = snapshot.context;
  if (snapshot.value === 'PLANNING' && runId !== null) {
    return [{ type: 'callModel', runId, attempt: failedModelAttempts + 1 }];
  }
  if (snapshot.value !== 'EXECUTING_TOOL') return [];
  const rows = new Map(executions.map((execution) => [execution.executionId, execution]));
  const mayBegin = !calls.some(waitsForPerson);
  return calls.flatMap((call): Effect[] => {
    const { executionId, attempt } = call;
    const { effect } = agreeing(call, rows.get(executionId));
    if (isInFlight(call)) return [{ type: 'runAttempt', executionId, attempt, effect }];
    const begins = waitsToRetry(call) || (mayBegin && (call.status === 'PENDING' || call.runAgain));
    return begins ? [{ type: 'startExecution', executionId, attempt: attempt + 1, effect }] : [];
  });
}

function agreeing(call: OpenCall, row: ExecutionFacts | undefined): ExecutionFacts {
  const wanted = progressOf(call);
  const found = row === undefined ? 'no row' : progressOf(row);
  if (row !== undefined && found === wanted) return row;
  throw new TurnlockError('INVARIANT_BROKEN', {
    message: `snapshot and row of an execution differ: ${call.executionId} (found ${found}, wanted ${wanted})`,
    details: { executionId: call.executionId },
  });
}

function progressOf({ status, attempt, unknownReason }: OpenCall | ExecutionFacts): string {
  return `${status} at attempt ${attempt}${unknownReason === null ? '' : `, unknown by ${unknownReason}`}`;
}
