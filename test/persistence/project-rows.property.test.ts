import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSettled } from '../../machines/execution-status.ts';
import type { OpenCall } from '../../machines/open-calls.ts';
import { pendingEffects } from '../../machines/pending-effects.ts';
import type { SessionEvent } from '../../machines/session-event.ts';
import type { SessionSnapshot } from '../../machines/snapshot-codec.ts';
import type { ExecutionRow, RowChanges } from '../../persistence/row-changes.ts';
import { walk } from '../machines/random-events.ts';
import { walkOf } from '../machines/walk-of.ts';
import { EXECUTION_MATRIX } from '../migrations/legal-matrices.ts';
import { describeProperties, runs } from '../support/property.ts';
import { NOW, RowLedger } from './project-rows-ledger.ts';

describeProperties('the rows of any sequence of events', () => {
  test('turns have no gap: they begin at the next index of the snapshot and end at that of the one after', () => {
    each(60, ({ before, after, changes, ledger }) => {
      const first = before.context.nextTurnIndex;
      expect(changes.turns.map((turn) => turn.turnIndex)).toEqual(range(first, after.context.nextTurnIndex));
      expect(ledger.turns.map((turn) => turn.turnIndex)).toEqual(range(0, after.context.nextTurnIndex));
    });
  });

  test('a closed turn has one tool turn for each call the model made, in call order, from its execution', () => {
    each(60, ({ before, event, changes, after }) => {
      const tools = changes.turns.filter((turn) => turn.role === 'tool');
      const [assistant] = changes.turns.filter((turn) => turn.role === 'assistant');
      const asked = event.type === 'model.calledTools' ? event.calls : before.context.calls;
      if (after.context.calls.length > 0 || asked.length === 0) {
        expect(tools).toEqual([]);
        return;
      }
      const called = asked.flatMap(({ executionId, ordinals }) =>
        ordinals.map((ordinal) => [ordinal, executionId] as const),
      );
      expect(tools.map((turn) => [turn.callOrdinal, turn.executionId])).toEqual(called.sort(([a], [b]) => a - b));
      expect(new Set(tools.map((turn) => turn.callTurnId)).size).toBe(1);
      if (assistant !== undefined) expect(tools[0]?.callTurnId).toBe(assistant.turnId);
    });
  });

  test('each tool turn names the assistant turn whose calls it answers', () => {
    each(50, ({ changes, ledger }) => {
      for (const turn of changes.turns.filter(({ role }) => role === 'tool')) {
        const execution = ledger.executions.get(turn.executionId ?? '');
        expect(turn.callTurnId).toBe(execution?.turnId);
        expect(ledger.turns.findLast(({ role }) => role === 'assistant')?.turnId).toBe(turn.callTurnId);
      }
    });
  });

  test('rows and snapshot tell the same story, so what is owed can be read', () => {
    each(60, ({ after, ledger }) => {
      const open = after.context.calls.map((call) => ledger.executions.get(call.executionId) as ExecutionRow);
      expect(open.map(progressOf)).toEqual(after.context.calls.map(progressOf));
      pendingEffects(after, open);
    });
  });

  test('an execution moves as its machine allows, and what is settled for good is never touched', () => {
    each(60, ({ changes, rowsBefore }) => {
      for (const [executionId, change] of changes.updatedExecutions) {
        const row = rowsBefore.get(executionId) as ExecutionRow;
        expect(EXECUTION_MATRIX[row.status]).toContain(change.status ?? row.status);
        const attempt = change.attempt ?? row.attempt;
        expect([row.attempt, row.attempt + 1]).toContain(attempt);
        const runs = (change.status ?? row.status) === 'RUNNING';
        if (attempt > row.attempt || (runs && row.status !== 'RUNNING'))
          expect([runs, attempt]).toEqual([true, row.attempt + 1]);
      }
    });
  });

  test('the columns of an execution fit its status', () => {
    each(60, ({ ledger }) => {
      for (const row of ledger.executions.values()) {
        expect(row.completedAt !== null).toBe(isSettled(row.status));
        expect([row.unknownAt !== null, row.fencingToken !== null, row.deadlineAt !== null]).toEqual([
          row.unknownReason !== null,
          row.attempt > 0,
          row.attempt > 0,
        ]);
        if (row.attempt > 0) expect(row.deadlineAt?.getTime()).toBeGreaterThan(NOW.getTime());
        if (row.status !== 'SUCCESS') expect(row.outputPayload).toBeNull();
        if (isSettled(row.status)) expect(row.retryAt).toBeNull();
        // What the last attempt said stands with a call that waits to be tried again, and with one of which nobody knows.
        const isOpen = !isSettled(row.status) && row.retryAt === null && row.unknownReason === null;
        if (row.status === 'SUCCESS' || isOpen) expect([row.errorMessage, row.errorCode]).toEqual([null, null]);
        if (row.retryAt !== null) expect([row.status, row.errorMessage]).toEqual(['RUNNING', 'not now']);
      }
    });
  });

  test('the projection is pure: the same twice, and its input stays as it was', () => {
    each(30, ({ changes, again }) => {
      expect(again).toEqual(changes);
    });
  });
});

interface Written {
  before: SessionSnapshot;
  event: SessionEvent;
  after: SessionSnapshot;
  changes: RowChanges;
  /** What a second projection of the same said. */
  again: RowChanges;
  rowsBefore: Map<string, ExecutionRow>;
  /** With the changes. */
  ledger: RowLedger;
}

/** Checks every commit of `count` random walks. Late evidence and forks write no turns here: theirs are not projected. */
function each(count: number, check: (written: Written) => void): void {
  const withoutSystemTurns = (event: SessionEvent) => {
    if (event.type === 'session.forked') return { ...event, originTurnIndex: -1 };
    return event.type === 'tool.evidenced' ? { ...event, systemTurns: 0 } : event;
  };
  fc.assert(
    fc.property(walk, (steps) => {
      const ledger = new RowLedger();
      for (const { before, event, after } of walkOf(steps, withoutSystemTurns)) {
        if (after === null) continue;
        const rowsBefore = new Map(ledger.executions);
        const changes = ledger.project(before, event, after);
        const again = ledger.project(before, event, after);
        ledger.write(changes);
        check({ before, event, after, changes, again, rowsBefore, ledger });
      }
    }),
    runs(count),
  );
}

function progressOf({ executionId, status, attempt, unknownReason }: OpenCall | ExecutionRow) {
  return [executionId, status, attempt, unknownReason];
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, place) => from + place);
}
