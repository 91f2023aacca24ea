import type { SessionEvent } from '../../machines/session-event.ts';
import type { SessionSnapshot } from '../../machines/snapshot-codec.ts';
import { projectRows } from '../../persistence/project-rows.ts';
import type { ExecutionRow, RowChanges, TurnRow } from '../../persistence/row-changes.ts';
import { deepFreeze } from '../machines/deep-freeze.ts';

/** The time at which the ledger's commits happen, unless told otherwise. */
export const NOW = new Date('2026-11-29T12:00:00.000Z');

/** The session of every {@link RowLedger}. */
export const SESSION = '0198c5f0-0000-7000-8000-000000000000';

/** What a database would hold of one session, kept in memory: projections go in, rows come out. */
export class RowLedger {
  readonly turns: TurnRow[] = [];
  readonly executions = new Map<string, ExecutionRow>();
  token = 1;
  #ids = 0;

  /** Projects `event` onto the rows as they are, and leaves them alone. */
  project(before: SessionSnapshot, event: SessionEvent, after: SessionSnapshot): RowChanges {
    const open = before.context.calls.map((call) => this.executions.get(call.executionId) as ExecutionRow);
    const first = this.#ids;
    const changes = projectRows({
      sessionId: SESSION,
      before,
      after,
      event,
      executions: open,
      callTurnId: open[0]?.turnId ?? null,
      now: NOW,
      token: this.token,
      newId: () => `id-${this.#ids++}`,
    });
    this.#ids = first;
    return changes;
  }

  /** Writes `changes`. Rows are frozen: a projection that writes to its input throws. */
  write({ turns, insertedExecutions, updatedExecutions }: RowChanges): void {
    this.turns.push(...turns);
    this.#ids += turns.length;
    for (const [executionId, change] of updatedExecutions) {
      const row = this.executions.get(executionId) as ExecutionRow;
      this.executions.set(executionId, deepFreeze({ ...row, ...change }));
    }
    for (const execution of insertedExecutions) this.executions.set(execution.executionId, deepFreeze(execution));
  }
}
