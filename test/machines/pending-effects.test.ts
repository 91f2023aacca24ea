import { describe, expect, test } from 'vitest';
import { nextSnapshot } from '../../machines/next-snapshot.ts';
import { type ExecutionFacts, pendingEffects } from '../../machines/pending-effects.ts';
import { rowsOf } from './rows-of.ts';
import {
  attemptFailed,
  becameUnknown,
  calledTools,
  completed,
  messaged,
  modelFailed,
  planned,
  RUN,
  replied,
  result,
  retried,
  settled,
} from './sample-events.ts';
import { snapshotAfter } from './snapshot-after.ts';

describe('what a snapshot owes', () => {
  test.each([
    ['IDLE', snapshotAfter()],
    ['IDLE after a run', snapshotAfter(messaged, replied)],
    [
      'AWAITING_INPUT',
      snapshotAfter(messaged, calledTools(planned(0, { verdict: 'ask' }), planned(1, { verdict: 'queue' }))),
    ],
    ['COMPLETED', snapshotAfter(completed)],
    ['FAILED', snapshotAfter(messaged, modelFailed)],
  ])('nothing in %s', (_title, snapshot) => {
    expect(pendingEffects(snapshot, rowsOf(snapshot))).toEqual([]);
  });

  test('PLANNING: one model call, whose attempts are counted', () => {
    const snapshot = snapshotAfter(messaged);
    expect(pendingEffects(snapshot, [])).toEqual([{ type: 'callModel', runId: RUN, attempt: 1 }]);
    const third = [attemptFailed, attemptFailed].reduce(nextSnapshot, snapshot);
    expect(pendingEffects(third, [])).toEqual([{ type: 'callModel', runId: RUN, attempt: 3 }]);
  });

  test('the model call after tools, and that of a retried session, are first attempts', () => {
    const afterTools = snapshotAfter(messaged, attemptFailed, calledTools(planned(0)), settled(result('call-0')));
    expect(pendingEffects(afterTools, [])).toEqual([{ type: 'callModel', runId: RUN, attempt: 1 }]);
    const afterRetry = snapshotAfter(messaged, attemptFailed, modelFailed, retried);
    expect(pendingEffects(afterRetry, [])).toEqual([{ type: 'callModel', runId: 'run-2', attempt: 1 }]);
  });

  test('EXECUTING_TOOL: what runs and what may start, in call order, with its class', () => {
    const snapshot = snapshotAfter(
      messaged,
      calledTools(
        planned(0, { verdict: 'queue' }),
        planned(1),
        planned(2, { verdict: 'settled', outcome: 'failed' }),
        planned(3, { verdict: 'queue' }),
      ),
    );
    const rows = rowsOf(snapshot).map((row): ExecutionFacts => ({ ...row, effect: 'idempotent' }));
    expect(pendingEffects(snapshot, rows.toReversed())).toEqual([
      { type: 'startExecution', executionId: 'call-0', attempt: 1, effect: 'idempotent' },
      { type: 'runAttempt', executionId: 'call-1', attempt: 1, effect: 'idempotent' },
      { type: 'startExecution', executionId: 'call-3', attempt: 1, effect: 'idempotent' },
    ]);
  });
});

describe('rows that tell another story than the snapshot', () => {
  const snapshot = snapshotAfter(messaged, calledTools(planned(0), planned(1)), becameUnknown('call-0'));
  const [unknown, running] = rowsOf(snapshot) as [ExecutionFacts, ExecutionFacts];

  test.each<[string, ExecutionFacts[], string]>([
    ['a row is missing', [unknown], 'found no row, wanted RUNNING at attempt 1'],
    ['no row at all', [], 'call-0'],
    ['another status', [unknown, { ...running, status: 'SUCCESS' }], 'found SUCCESS at attempt 1'],
    ['another attempt', [unknown, { ...running, attempt: 2 }], 'found RUNNING at attempt 2'],
    [
      'known to be unknown',
      [unknown, { ...running, unknownReason: 'lease' }],
      'found RUNNING at attempt 1, unknown by',
    ],
    [
      'not known to be unknown',
      [{ ...unknown, unknownReason: null }, running],
      'wanted RUNNING at attempt 1, unknown by',
    ],
  ])('%s', (_title, rows, says) => {
    expect(() => pendingEffects(snapshot, rows)).toThrow(
      expect.objectContaining({ code: 'INVARIANT_BROKEN', message: expect.stringContaining(says) }),
    );
  });

  test('rows of other calls do no harm', () => {
    const other: ExecutionFacts = { ...running, executionId: 'call-9', status: 'FAILED' };
    expect(pendingEffects(snapshot, [other, unknown, running])).toHaveLength(1);
  });
});
