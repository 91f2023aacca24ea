import { nextSnapshot } from '../../machines/next-snapshot.ts';
import type { SessionEvent } from '../../machines/session-event.ts';
import { initialSnapshot } from '../../machines/snapshot-codec.ts';
import type { RowChanges } from '../../persistence/row-changes.ts';
import { RowLedger } from './project-rows-ledger.ts';

/** The rows that a new session has after `events`, and what the last one of them wrote. */
export function projectEvents(...events: SessionEvent[]): { ledger: RowLedger; last: RowChanges } {
  const ledger = new RowLedger();
  let snapshot = initialSnapshot();
  let last: RowChanges | undefined;
  for (const event of events) {
    const after = nextSnapshot(snapshot, event);
    last = ledger.project(snapshot, event, after);
    ledger.write(last);
    snapshot = after;
  }
  return { ledger, last: last as RowChanges };
}
