import type { ExecutionFacts } from '../../machines/pending-effects.ts';
import type { SessionSnapshot } from '../../machines/snapshot-codec.ts';

/** The rows of the open calls, as a database that agrees with `snapshot` holds them. */
export function rowsOf(snapshot: SessionSnapshot): ExecutionFacts[] {
  return snapshot.context.calls.map(({ executionId, status, attempt, unknownReason }) => ({
    executionId,
    status,
    attempt,
    unknownReason,
    effect: 'nonRepeatable',
  }));
}
