import { expect, test } from 'vitest';
import { PlayedCount, type PlayedTools } from '../../../testing/report/played-tools.ts';
import { toolsText } from '../../../testing/report/tools-text.ts';
import type { SeenExecution } from '../../../testing/subject.ts';

const none = { crash: 0, stall: 0, disconnect: 0, timeout: 0 };

/** A call of `refund`, as it is committed. */
function executionOf(part: Partial<SeenExecution>): SeenExecution {
  const ids = { tenantId: 't', userId: 'u', sessionId: 's', executionId: 'e', idempotencyKey: 'k' };
  const nobody = { approvedBy: null, settledBy: null, answeredBy: null };
  const ends = { status: 'SUCCESS', isUnknown: false, output: null, errorCode: null } as const;
  return { ...ids, toolName: 'refund', params: {}, ...ends, ...nobody, ...part };
}

/** A run in which `execute` was called so many times for each of these. */
function runOf(executions: readonly SeenExecution[], attempts: number) {
  return { executions, calls: { attemptsOf: () => attempts, reconcilesOf: () => 0 }, faults: none };
}

test.each<[string, number, Partial<SeenExecution>, object]>([
  ['succeeded', 2, {}, { succeeded: 1 }],
  ['was answered by another one', 0, { answeredBy: 'f' }, { answered: 1 }],
  ['failed', 1, { status: 'FAILED', errorCode: 'TOOL_FAILED' }, { failed: 1 }],
  ['failed and never ran', 0, { status: 'FAILED', errorCode: 'X' }, { notRun: { X: 1 } }],
  ['is unknown', 1, { status: 'RUNNING', isUnknown: true }, { unknown: 1 }],
  ['was given up', 3, { status: 'TIMED_OUT', isUnknown: true }, { unknown: 1 }],
  ['waits', 0, { status: 'PENDING' }, { unknown: 1 }],
])('a call that %s is counted once', (_, attempts, part, counted) => {
  const count = new PlayedCount(['refund']);
  count.add(runOf([executionOf(part)], attempts));
  const zeros = { reconciles: 0, succeeded: 0, answered: 0, failed: 0, notRun: {}, unknown: 0 };
  expect(count.played.tools).toEqual({ refund: { calls: 1, attempts, ...zeros, ...counted } });
});

test('runs are added up, faults by their kind, and calls of tools that nobody asked about do not count', () => {
  const count = new PlayedCount(['refund', '__proto__']);
  const run = runOf([executionOf({}), executionOf({ toolName: 'refund_' })], 1);
  count.add({ ...run, faults: { ...none, crash: 2, timeout: 1 } });
  count.add({ ...run, faults: { ...none, crash: 1, stall: 4 } });
  const { tools, faults } = count.played;
  expect(Object.keys(tools)).toEqual(['refund', '__proto__']);
  expect(tools.refund).toMatchObject({ calls: 2, attempts: 2, succeeded: 2 });
  expect(faults).toEqual({ crash: 3, stall: 4, disconnect: 0, timeout: 1 });
});

const zeros = { calls: 0, attempts: 0, reconciles: 0, succeeded: 0, answered: 0, failed: 0, notRun: {}, unknown: 0 };

test('what was played is told in a line for each tool, what never ran in the first one', () => {
  const played: PlayedTools = {
    tools: {
      refund: { ...zeros, calls: 9, attempts: 5, reconciles: 1, succeeded: 3, answered: 2, failed: 1, unknown: 1 },
      book: { ...zeros, calls: 3, notRun: { PARAMS_INVALID: 2, POLICY_DENIED: 1 } },
      charge: zeros,
    },
    faults: { crash: 2, stall: 1, disconnect: 0, timeout: 0 },
  };
  const nothing = [
    '  faults: 2 crashes, 1 stall, 0 lost connections, 0 time-outs',
    '  refund: 9 calls, 5 attempts, 1 reconcile; 3 succeeded, 2 answered by another one, 1 failed, 1 unknown',
    '  book: 3 calls, 0 attempts; 0 succeeded, 0 failed, not run: 2 PARAMS_INVALID, 1 POLICY_DENIED',
  ];
  expect(toolsText(played, { runs: 20, isReplay: false }).split('\n')).toEqual([
    'Nothing was found in 20 runs, but book, charge NEVER RAN.',
    ...nothing,
    '  charge: 0 calls, 0 attempts; 0 succeeded, 0 failed',
  ]);
  // The one run that is played again asks for what it asks.
  const again = toolsText(played, { runs: 1, isReplay: true }).split('\n');
  expect(again).toEqual(['Nothing was found in 1 run, but book NEVER RAN.', ...nothing]);
});

test('a replay that asks for nothing says so', () => {
  const text = toolsText({ tools: { refund: zeros }, faults: none }, { runs: 1, isReplay: true });
  expect(text).toMatch(/^Nothing was found in 1 run, but NO CALL RAN\./);
});
