import { FAULT_POINTS, type FaultInfo, type FaultPoint } from '../../../environment.ts';
import { DATABASE_POINTS } from '../../../testing/faults/fault-plan.ts';

/** The effect classes, in the order of the page's columns. */
export const EFFECTS = ['readOnly', 'idempotent', 'transactional', 'reconcilable', 'nonRepeatable'] as const;

/** One of {@link EFFECTS}. */
export type Effect = (typeof EFFECTS)[number];

/** A place on the way of a call, by its name on the page: `start: afterLock`, `insideEffect, before the act`. */
export type Place = string;

/** What tells a passage of the tool after its act from the one before it. */
export const AFTER_ACT = 'acted';

/** The names that a fault point has on the way of a call: a point of a transaction is passed by its start and by its record. */
function placesOf(point: FaultPoint): Place[] {
  if (DATABASE_POINTS.has(point)) return [`start: ${point}`, `record: ${point}`];
  if (point === 'insideEffect') return ['insideEffect, before the act', 'insideEffect, after the act'];
  return point === 'beforeHeartbeat' ? ['beforeHeartbeat, after the act'] : [point];
}

/** Every place of every fault point. */
export const PLACES: readonly Place[] = FAULT_POINTS.flatMap(placesOf);

/** Where each commit writes the row of the execution. */
const WRITES: Record<string, RegExp> = {
  start: /^insert into "turnlock"\."agent_tool_executions"/,
  record: /^update "turnlock"\."agent_tool_executions"/,
};

/**
 * Tells passages of one run with one call from each other. The first transaction after the model answered is that of the start, the one
 * after it that of the record.
 */
export class Way {
  #hasAnswered = false;
  #hasActed = false;
  #transactions = 0;

  /** The model has asked for the call. */
  noteAnswer(): void {
    this.#hasAnswered = true;
  }

  /** Where a passage is; `null` where it is none of {@link PLACES}. Called once for each, in order. */
  placeOf(point: FaultPoint, { executionId, detail, statement }: FaultInfo): Place | null {
    if (!this.#hasAnswered) return null;
    if (DATABASE_POINTS.has(point)) {
      if (point === 'beforeBegin') this.#transactions += 1;
      const commit = ['start', 'record'][this.#transactions - 1];
      if (commit === undefined) return null;
      return point !== 'afterStatement' || WRITES[commit]!.test(statement ?? '') ? `${commit}: ${point}` : null;
    }
    if (point === 'beforeEvidence') return point;
    if (point === 'beforeHeartbeat') return this.#hasActed ? 'beforeHeartbeat, after the act' : null;
    if (executionId === undefined) return null;
    if (point !== 'insideEffect') return point;
    if (detail === AFTER_ACT) this.#hasActed = true;
    return `insideEffect, ${detail === AFTER_ACT ? 'after' : 'before'} the act`;
  }
}
