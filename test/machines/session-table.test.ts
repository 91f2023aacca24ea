import { describe, expect, test } from 'vitest';
import { nextSnapshot } from '../../machines/next-snapshot.ts';
import type { PlannedCall, SessionEvent } from '../../machines/session-event.ts';
import type { SessionState } from '../../machines/session-state.ts';
import {
  amended,
  attemptFailed,
  becameUnknown,
  calledTools,
  cancelled,
  completed,
  denied,
  evidenced,
  expired,
  granted,
  limitMet,
  messaged,
  modelFailed,
  planned,
  replied,
  result,
  retried,
  settled,
  settledByPerson,
  started,
} from './sample-events.ts';
import { snapshotAfter } from './snapshot-after.ts';

const ASK: Partial<PlannedCall> = { verdict: 'ask' };
const QUESTION: Partial<PlannedCall> = { verdict: 'ask', waitsFor: 'answer' };
const INVALID: Partial<PlannedCall> = { verdict: 'settled', outcome: 'failed' };
const KNOWN: Partial<PlannedCall> = { verdict: 'settled', outcome: 'succeeded' };
const QUEUED: Partial<PlannedCall> = { verdict: 'queue' };

const running = [messaged, calledTools(planned(0))];
const asking = [messaged, calledTools(planned(0, ASK))];
const unknown = [...running, becameUnknown('call-0')];
const failed = [messaged, modelFailed];
const answer: SessionEvent = { ...messaged, answersExecutionId: 'call-0' };

/** The transitions of the design's table, each by an example. */
const TABLE: { title: string; before: SessionEvent[]; event: SessionEvent; from: SessionState; to: SessionState }[] = [
  { title: 'a message', before: [], event: messaged, from: 'IDLE', to: 'PLANNING' },
  { title: 'the end of an idle session', before: [], event: completed, from: 'IDLE', to: 'COMPLETED' },
  {
    title: 'calls that start',
    before: [messaged],
    event: calledTools(planned(0), planned(1, INVALID)),
    from: 'PLANNING',
    to: 'EXECUTING_TOOL',
  },
  {
    title: 'calls that wait for a slot',
    before: [messaged],
    event: calledTools(planned(0, QUEUED)),
    from: 'PLANNING',
    to: 'EXECUTING_TOOL',
  },
  {
    title: 'calls of which none runs',
    before: [messaged],
    event: calledTools(planned(0, INVALID), planned(1, KNOWN)),
    from: 'PLANNING',
    to: 'PLANNING',
  },
  { title: 'an attempt of the model', before: [messaged], event: attemptFailed, from: 'PLANNING', to: 'PLANNING' },
  {
    title: 'a call that needs approval, beside one that could run',
    before: [messaged],
    event: calledTools(planned(0, QUEUED), planned(1, ASK)),
    from: 'PLANNING',
    to: 'AWAITING_INPUT',
  },
  {
    title: 'a question to the user',
    before: [messaged],
    event: calledTools(planned(0, QUESTION)),
    from: 'PLANNING',
    to: 'AWAITING_INPUT',
  },
  { title: 'a reply', before: [messaged], event: replied, from: 'PLANNING', to: 'IDLE' },
  {
    title: 'a final reply',
    before: [messaged],
    event: { ...replied, final: true },
    from: 'PLANNING',
    to: 'COMPLETED',
  },
  { title: 'a model that failed for good', before: [messaged], event: modelFailed, from: 'PLANNING', to: 'FAILED' },
  { title: 'a limit while planning', before: [messaged], event: limitMet, from: 'PLANNING', to: 'FAILED' },
  { title: 'cancel while planning', before: [messaged], event: cancelled, from: 'PLANNING', to: 'IDLE' },
  {
    title: 'the last open call',
    before: running,
    event: settled(result('call-0')),
    from: 'EXECUTING_TOOL',
    to: 'PLANNING',
  },
  {
    title: 'one of two open calls',
    before: [messaged, calledTools(planned(0), planned(1))],
    event: settled(result('call-0')),
    from: 'EXECUTING_TOOL',
    to: 'EXECUTING_TOOL',
  },
  {
    title: 'both open calls at once',
    before: [messaged, calledTools(planned(0), planned(1))],
    event: settled(result('call-0', { outcome: 'timedOut' }), result('call-1', { outcome: 'failed' })),
    from: 'EXECUTING_TOOL',
    to: 'PLANNING',
  },
  { title: 'a retry', before: running, event: started('call-0', 2), from: 'EXECUTING_TOOL', to: 'EXECUTING_TOOL' },
  {
    title: 'an unknown outcome and nothing that runs',
    before: running,
    event: becameUnknown('call-0'),
    from: 'EXECUTING_TOOL',
    to: 'AWAITING_INPUT',
  },
  {
    title: 'an unknown outcome beside a call that runs',
    before: [messaged, calledTools(planned(0), planned(1))],
    event: becameUnknown('call-0'),
    from: 'EXECUTING_TOOL',
    to: 'EXECUTING_TOOL',
  },
  {
    title: "a start that today's policy holds",
    before: [messaged, calledTools(planned(0, QUEUED))],
    event: { type: 'execution.held', executionIds: ['call-0'] },
    from: 'EXECUTING_TOOL',
    to: 'AWAITING_INPUT',
  },
  { title: 'a limit while tools run', before: running, event: limitMet, from: 'EXECUTING_TOOL', to: 'FAILED' },
  { title: 'cancel while tools run', before: running, event: cancelled, from: 'EXECUTING_TOOL', to: 'IDLE' },
  {
    title: 'the last approval',
    before: asking,
    event: granted('call-0'),
    from: 'AWAITING_INPUT',
    to: 'EXECUTING_TOOL',
  },
  {
    title: 'one of two approvals',
    before: [messaged, calledTools(planned(0, ASK), planned(1, ASK))],
    event: granted('call-0'),
    from: 'AWAITING_INPUT',
    to: 'AWAITING_INPUT',
  },
  {
    title: 'a refusal that leaves nothing',
    before: asking,
    event: denied('call-0'),
    from: 'AWAITING_INPUT',
    to: 'PLANNING',
  },
  {
    title: 'a refusal that leaves a call to run',
    before: [messaged, calledTools(planned(0, QUEUED), planned(1, ASK))],
    event: denied('call-1'),
    from: 'AWAITING_INPUT',
    to: 'EXECUTING_TOOL',
  },
  {
    title: 'an approval of other params',
    before: asking,
    event: amended('call-0'),
    from: 'AWAITING_INPUT',
    to: 'EXECUTING_TOOL',
  },
  {
    title: 'a message that supersedes the last approval',
    before: asking,
    event: { type: 'approval.superseded', executionIds: ['call-0'], by: 'message', content: {} },
    from: 'AWAITING_INPUT',
    to: 'PLANNING',
  },
  {
    title: "the last start, which today's policy refuses",
    before: [messaged, calledTools(planned(0, QUEUED))],
    event: { type: 'execution.refused', executions: [{ executionId: 'call-0', content: {} }] },
    from: 'EXECUTING_TOOL',
    to: 'PLANNING',
  },
  {
    title: 'an unknown outcome that runs again',
    before: unknown,
    event: settledByPerson('call-0', 'runAgain'),
    from: 'AWAITING_INPUT',
    to: 'EXECUTING_TOOL',
  },
  {
    title: 'an unknown outcome that a person knows',
    before: unknown,
    event: settledByPerson('call-0', 'succeeded'),
    from: 'AWAITING_INPUT',
    to: 'PLANNING',
  },
  {
    title: 'evidence of an unknown outcome',
    before: unknown,
    event: evidenced(0, 'call-0'),
    from: 'AWAITING_INPUT',
    to: 'PLANNING',
  },
  {
    title: 'the answer to a question',
    before: [messaged, calledTools(planned(0, QUESTION))],
    event: answer,
    from: 'AWAITING_INPUT',
    to: 'PLANNING',
  },
  {
    title: 'an expiry that fails the run',
    before: asking,
    event: expired(true, 'call-0'),
    from: 'AWAITING_INPUT',
    to: 'FAILED',
  },
  {
    title: 'an expiry that the model is told',
    before: asking,
    event: expired(false, 'call-0'),
    from: 'AWAITING_INPUT',
    to: 'PLANNING',
  },
  { title: 'cancel while a person is asked', before: asking, event: cancelled, from: 'AWAITING_INPUT', to: 'IDLE' },
  { title: 'a new try after a failure', before: failed, event: retried, from: 'FAILED', to: 'PLANNING' },
  { title: 'the end of a failed session', before: failed, event: completed, from: 'FAILED', to: 'COMPLETED' },
];

test.each(TABLE)('$title: $from → $to on $event.type', ({ before, event, from, to }) => {
  const snapshot = snapshotAfter(...before);
  expect(snapshot.value).toBe(from);
  expect(nextSnapshot(snapshot, event).value).toBe(to);
});

describe('what loops in every state but COMPLETED', () => {
  const loops: SessionEvent[] = [
    { type: 'message.enqueued', runId: 'run-9' },
    { type: 'message.rejected', runId: 'run-9', code: 'SESSION_BUSY' },
    { type: 'worker.tookOver', holder: 'worker-2' },
    { type: 'lease.released', by: 'ada' },
    { type: 'machine.upgraded', fromVersion: 1, toVersion: 2, snapshot: {} },
    { type: 'memory.stored', memoryIds: ['memory-1'] },
    { type: 'content.erased', by: 'ada' },
  ];

  test.each(loops)('$type', (event) => {
    for (const before of [[], [messaged], running, asking, failed]) {
      const snapshot = snapshotAfter(...before);
      const next = nextSnapshot(snapshot, event);
      expect([next.value, next.context]).toEqual([snapshot.value, snapshot.context]);
    }
  });
});

test('C65 two rounds of waiting for a person in one run', () => {
  const first = [...asking, denied('call-0')];
  const second = [...first, calledTools(planned(0, { ...ASK, executionId: 'call-9' })), granted('call-9')];
  expect(snapshotAfter(...second).value).toBe('EXECUTING_TOOL');
});

test('a fork may only be the first event of a session', () => {
  const forked: SessionEvent = { type: 'session.forked', originSessionId: 'session-0', originTurnIndex: 3, by: 'ada' };
  expect(snapshotAfter(forked)).toMatchObject({ value: 'IDLE', context: { nextTurnIndex: 4, runId: null } });
  expect(() => snapshotAfter(forked, forked)).toThrow(expect.objectContaining({ code: 'EVENT_ILLEGAL' }));
  expect(() => snapshotAfter(messaged, forked)).toThrow(expect.objectContaining({ code: 'EVENT_ILLEGAL' }));
  expect(() => snapshotAfter(messaged, replied, forked)).toThrow(expect.objectContaining({ code: 'EVENT_ILLEGAL' }));
});
