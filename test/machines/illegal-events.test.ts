import { describe, expect, test } from 'vitest';
import { isTurnlockError, type TurnlockError } from '../../errors.ts';
import { acceptedEvents } from '../../machines/legal-graph.ts';
import { nextSnapshot } from '../../machines/next-snapshot.ts';
import type { SessionEvent } from '../../machines/session-event.ts';
import { encodeSnapshot, type SessionSnapshot } from '../../machines/snapshot-codec.ts';
import {
  becameUnknown,
  calledTools,
  cancelled,
  completed,
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

const snapshots = {
  IDLE: snapshotAfter(),
  PLANNING: snapshotAfter(messaged),
  EXECUTING_TOOL: snapshotAfter(messaged, calledTools(planned(0), planned(1, { verdict: 'queue' }))),
  AWAITING_INPUT: snapshotAfter(messaged, calledTools(planned(0, { verdict: 'ask' }))),
  COMPLETED: snapshotAfter(completed),
  FAILED: snapshotAfter(messaged, modelFailed),
};

/** In each state, an event that belongs to another one. */
const ILLEGAL: [keyof typeof snapshots, SessionEvent][] = [
  ['IDLE', replied],
  ['IDLE', settled(result('call-0'))],
  ['IDLE', cancelled],
  ['IDLE', retried],
  ['IDLE', limitMet],
  ['PLANNING', messaged],
  ['PLANNING', completed],
  ['PLANNING', started('call-0', 1)],
  ['EXECUTING_TOOL', replied],
  ['EXECUTING_TOOL', messaged],
  ['EXECUTING_TOOL', completed],
  ['EXECUTING_TOOL', expired(false, 'call-0')],
  ['AWAITING_INPUT', replied],
  ['AWAITING_INPUT', started('call-0', 1)],
  ['AWAITING_INPUT', settled(result('call-0'))],
  ['AWAITING_INPUT', becameUnknown('call-0')],
  ['AWAITING_INPUT', limitMet],
  ['AWAITING_INPUT', completed],
  ['FAILED', messaged],
  ['FAILED', replied],
  ['FAILED', cancelled],
  ['COMPLETED', messaged],
  ['COMPLETED', completed],
  ['COMPLETED', { type: 'content.erased', by: 'ada' }],
];

describe('C63 an event that the state does not take', () => {
  test.each(ILLEGAL)('%s refuses $type', (state, event) => {
    const error = refusalOf(snapshots[state], event);
    expect(error.message).toContain(`event not accepted: ${event.type} (found state ${state}, which accepts `);
    for (const accepted of acceptedEvents(state)) expect(error.message).toContain(accepted);
    expect(error.details).toEqual({ state, event: event.type, accepted: acceptedEvents(state) });
  });

  test('names that are no event at all are refused too', () => {
    for (const type of ['user.shouted', '', '*', 'xstate.init', 'toString', '__proto__']) {
      for (const snapshot of Object.values(snapshots)) refusalOf(snapshot, { type } as never);
    }
    expect.hasAssertions();
  });
});

/** Events of the right name whose contents do not fit the present calls or run. */
const UNFIT: [keyof typeof snapshots, string, SessionEvent][] = [
  ['PLANNING', 'an answer of another run', { ...replied, runId: 'run-0' }],
  ['PLANNING', 'calls of another run', { ...calledTools(planned(0)), runId: 'run-0' }],
  ['PLANNING', 'a limit of another run', { ...limitMet, runId: 'run-0' }],
  ['PLANNING', 'no call', calledTools()],
  ['PLANNING', 'a start beside a question', calledTools(planned(0), planned(1, { verdict: 'ask' }))],
  ['PLANNING', 'a gap in the ordinals', calledTools(planned(0), planned(2))],
  ['PLANNING', 'an ordinal twice', calledTools(planned(0), planned(0, { executionId: 'call-1' }))],
  ['PLANNING', 'an execution twice', calledTools(planned(0), planned(1, { executionId: 'call-0' }))],
  ['PLANNING', 'a call without a place', calledTools(planned(0), planned(1, { ordinals: [] }))],
  ['EXECUTING_TOOL', 'a result of another call', settled(result('call-9'))],
  ['EXECUTING_TOOL', 'a result of another attempt', settled(result('call-0', { attempt: 2 }))],
  ['EXECUTING_TOOL', 'a result of a call that never started', settled(result('call-1', { attempt: 0 }))],
  ['EXECUTING_TOOL', 'a result twice', settled(result('call-0'), result('call-0'))],
  ['EXECUTING_TOOL', 'no result', settled()],
  ['EXECUTING_TOOL', 'one good result and one of another call', settled(result('call-0'), result('call-9'))],
  ['EXECUTING_TOOL', 'a start that skips an attempt', started('call-0', 3)],
  ['EXECUTING_TOOL', 'a start of the present attempt', started('call-0', 1)],
  ['EXECUTING_TOOL', 'no start', { type: 'execution.started', executions: [] }],
  [
    'EXECUTING_TOOL',
    'two starts of one call',
    {
      type: 'execution.started',
      executions: [2, 3].map((attempt) => ({ executionId: 'call-0', attempt, timeoutMs: 1 })),
    },
  ],
  ['EXECUTING_TOOL', 'an unknown outcome of a call that never started', becameUnknown('call-1', 0)],
  ['EXECUTING_TOOL', 'an approval that nobody asked for', granted('call-1')],
  ['EXECUTING_TOOL', 'a person about a call that runs', settledByPerson('call-0', 'succeeded')],
  ['EXECUTING_TOOL', 'a second round of what is not unknown', settledByPerson('call-1', 'runAgain')],
  ['EXECUTING_TOOL', 'evidence of nothing', evidenced(0)],
  ['EXECUTING_TOOL', 'evidence that is late for one call and not for the other', evidenced(1, 'call-0', 'call-9')],
  ['AWAITING_INPUT', 'a message that answers nothing', messaged],
  ['AWAITING_INPUT', 'a message as approval', { ...messaged, answersExecutionId: 'call-0' }],
  ['AWAITING_INPUT', 'an expiry of nothing that fails the run', expired(true)],
  ['AWAITING_INPUT', 'an expiry of another call', expired(true, 'call-9')],
  ['IDLE', 'an answer to a question of nobody', { ...messaged, answersExecutionId: 'call-0' }],
];

describe('an event whose contents do not fit', () => {
  test.each(UNFIT)('%s refuses %s', (state, _title, event) => {
    const error = refusalOf(snapshots[state], event);
    expect(error.message).toContain(`event does not fit: ${event.type} (found state ${state}`);
    expect(error.details).toEqual({ state, event: event.type, accepted: acceptedEvents(state) });
  });
});

/** The refusal, after making sure that it is one and that the snapshot stayed as it was. */
function refusalOf(snapshot: SessionSnapshot, event: SessionEvent): TurnlockError {
  const before = JSON.stringify(encodeSnapshot(snapshot));
  try {
    nextSnapshot(snapshot, event);
  } catch (error) {
    expect(isTurnlockError(error, 'EVENT_ILLEGAL')).toBe(true);
    expect(JSON.stringify(encodeSnapshot(snapshot))).toBe(before);
    return error as TurnlockError;
  }
  throw new Error(`${snapshot.value} took ${event.type}`);
}
