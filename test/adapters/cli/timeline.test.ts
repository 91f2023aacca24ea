import { expect, test } from 'vitest';
import { describeEvent } from '../../../adapters/cli/describe-event.ts';
import { buildTimeline } from '../../../adapters/cli/timeline.ts';
import type { StoredTransition } from '../../../persistence/read-transitions.ts';
import type { StoredTurn } from '../../../persistence/read-turns.ts';
import type { ExecutionRow } from '../../../persistence/row-changes.ts';

const transition = (sequence: number, at: number) => ({ sequence, createdAt: new Date(at) }) as StoredTransition;
const turn = (turnIndex: number, at: number) =>
  ({ turnId: `t${turnIndex}`, turnIndex, createdAt: new Date(at) }) as StoredTurn;
const execution = (executionId: string, turnId: string) =>
  ({ executionId, turnId, toolName: 'refund' }) as ExecutionRow;

function shape(entries: ReturnType<typeof buildTimeline>) {
  return entries.map((entry) => [
    entry.transition?.sequence ?? null,
    entry.turns.map(({ turn, executions }) => [turn.turnIndex, executions.map((row) => row.executionId)]),
  ]);
}

test('each transition stands with the turns that it wrote, whatever their times, and turns with their calls', () => {
  const entries = buildTimeline({
    transitions: [transition(1, 5), transition(2, 5), transition(3, 5)],
    turns: [turn(0, 5), turn(1, 5), turn(2, 5)],
    executions: [execution('e1', 't1'), execution('e2', 't1')],
    turnsOf: new Map([
      [1, [0]],
      [2, []],
      [3, [1, 2]],
    ]),
  });
  expect(shape(entries)).toEqual([
    [1, [[0, []]]],
    [2, []],
    [
      3,
      [
        [1, ['e1', 'e2']],
        [2, []],
      ],
    ],
  ]);
});

test('turns of an erased transition are found by time, others are not taken', () => {
  const entries = buildTimeline({
    transitions: [transition(1, 10), transition(2, 20), transition(3, 30)],
    turns: [turn(0, 9), turn(1, 19), turn(2, 29), turn(3, 99)],
    executions: [],
    turnsOf: new Map([[2, [1]]]),
  });
  expect(shape(entries)).toEqual([
    [1, [[0, []]]],
    [2, [[1, []]]],
    [3, [[2, []]]],
    [null, [[3, []]]],
  ]);
});

test.each([
  [null, 'payload erased'],
  [{ type: 'user.messaged', runId: 'r' }, ''],
  [
    { type: 'tool.settled', results: [{ executionId: 'e1', attempt: 2, outcome: 'failed' }] },
    'refund failed (attempt 2)',
  ],
  [{ type: 'execution.started', executions: [{ executionId: 'e1', attempt: 1 }] }, 'refund attempt 1'],
  [
    { type: 'tool.outcomeUnknown', executions: [{ executionId: 'e1', attempt: 1, reason: 'crash' }] },
    'refund attempt 1: crash',
  ],
  [
    { type: 'execution.settledByPerson', executionId: 'e1', outcome: 'succeeded', by: 'a\u001bb' },
    String.raw`refund succeeded, by a\u001bb`,
  ],
  [{ type: 'input.expired', executionIds: ['e1', 'gone'], fails: false }, 'refund, gone'],
  [{ type: 'limit.met', runId: 'r', code: 'LIMIT_RECOVERIES' }, 'LIMIT_RECOVERIES'],
  [{ type: 'model.attemptFailed', runId: 'r', retryInMs: 500 }, 'again in 500 ms'],
] as const)('%j reads %j', (event, text) => {
  expect(describeEvent(event as Parameters<typeof describeEvent>[0], [execution('e1', 't1')])).toBe(text);
});
