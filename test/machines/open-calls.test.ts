import { describe, expect, test } from 'vitest';
import { nextSnapshot } from '../../machines/next-snapshot.ts';
import { callsAfter, isInFlight, waitsForPerson } from '../../machines/open-calls.ts';
import { pendingEffects } from '../../machines/pending-effects.ts';
import { SESSION_MACHINE_ID } from '../../machines/session.machine.ts';
import type { SessionEvent } from '../../machines/session-event.ts';
import { decodeSnapshot, encodeSnapshot, type SessionSnapshot } from '../../machines/snapshot-codec.ts';
import { rowsOf } from './rows-of.ts';
import {
  becameUnknown,
  calledTools,
  cancelled,
  denied,
  evidenced,
  expired,
  granted,
  limitMet,
  messaged,
  planned,
  result,
  settled,
  settledByPerson,
  started,
  tookOver,
} from './sample-events.ts';
import { snapshotAfter } from './snapshot-after.ts';

const QUEUED = { verdict: 'queue' } as const;
const ASK = { verdict: 'ask' } as const;

describe('no call starts while another one of its turn waits for a person', () => {
  const waiting: Record<string, SessionEvent[]> = {
    'an approval': [messaged, calledTools(planned(0, ASK), planned(1, QUEUED))],
    'a question': [messaged, calledTools(planned(0, { ...ASK, waitsFor: 'answer' }), planned(1, QUEUED))],
    'an unknown outcome': [messaged, calledTools(planned(0), planned(1, QUEUED)), becameUnknown('call-0')],
    'a held start': [
      messaged,
      calledTools(planned(0, QUEUED), planned(1, QUEUED)),
      { type: 'execution.held', executionIds: ['call-0'] },
    ],
    'an unknown outcome while a third call runs': [
      messaged,
      calledTools(planned(0), planned(1, QUEUED), planned(2)),
      becameUnknown('call-0'),
    ],
  };

  test.each(Object.keys(waiting))('%s holds back a queued sibling', (name) => {
    const snapshot = snapshotAfter(...(waiting[name] ?? []));
    expect(snapshot.context.calls.some(waitsForPerson)).toBe(true);
    expect(snapshot.can(started('call-1', 1))).toBe(false);
    expect(effectsOf(snapshot).filter(({ type }) => type === 'startExecution')).toEqual([]);
  });

  test('the next attempt of a call that is in flight may start: it is out already', () => {
    const snapshot = snapshotAfter(messaged, calledTools(planned(0), planned(1)), becameUnknown('call-0'));
    expect(nextSnapshot(snapshot, started('call-1', 2)).value).toBe('EXECUTING_TOOL');
  });

  test('once everybody is answered, all that may run is owed', () => {
    const snapshot = snapshotAfter(
      messaged,
      calledTools(planned(0, ASK), planned(1, QUEUED), planned(2, ASK)),
      granted('call-2'),
      denied('call-0'),
    );
    expect(effectsOf(snapshot)).toEqual([
      { type: 'startExecution', executionId: 'call-1', attempt: 1, effect: 'nonRepeatable' },
      { type: 'startExecution', executionId: 'call-2', attempt: 1, effect: 'nonRepeatable' },
    ]);
  });

  test('C46 each of three answers reaches its own call, in any order', () => {
    const before = [messaged, calledTools(planned(0, ASK), planned(1, ASK), planned(2, ASK))];
    const snapshot = snapshotAfter(...before, granted('call-2'), denied('call-0'), granted('call-1'));
    expect(snapshot.context.calls.map(({ executionId, status }) => [executionId, status])).toEqual([
      ['call-0', 'FAILED'],
      ['call-1', 'PENDING'],
      ['call-2', 'PENDING'],
    ]);
  });

  test('C47 what is decided cannot be decided again', () => {
    const snapshot = snapshotAfter(messaged, calledTools(planned(0, ASK), planned(1, ASK)), granted('call-0'));
    expect(snapshot.can(granted('call-0'))).toBe(false);
    expect(snapshot.can(denied('call-0'))).toBe(false);
    expect(snapshot.can(expired(false, 'call-0'))).toBe(false);
  });
});

describe('leaving a run settles every open call', () => {
  // One turn of five calls: done, given up, in flight, unknown, queued.
  const before = [
    messaged,
    calledTools(planned(0), planned(1), planned(2), planned(3, { ordinals: [3, 5] }), planned(4, QUEUED)),
    settled(result('call-0'), result('call-1', { outcome: 'timedOut' })),
    becameUnknown('call-3'),
  ];

  test.each<[string, SessionEvent]>([
    ['IDLE', cancelled],
    ['FAILED', limitMet],
  ])('to %s: each call is forgotten and each ordinal has its tool turn', (state, event) => {
    const snapshot = snapshotAfter(...before);
    const next = nextSnapshot(snapshot, event);
    expect(next.value).toBe(state);
    expect(next.context).toMatchObject({ calls: [], callTurnIndex: null });
    expect(next.context.nextTurnIndex - snapshot.context.nextTurnIndex).toBe(6);
    expect(next.context.failureCode).toBe(state === 'FAILED' ? 'LIMIT_MODEL_CALLS' : null);
  });

  test('FAILED by an expired input', () => {
    const snapshot = snapshotAfter(messaged, calledTools(planned(0, ASK), planned(1, QUEUED)));
    const next = nextSnapshot(snapshot, expired(true, 'call-0'));
    expect(next.context).toMatchObject({ calls: [], callTurnIndex: null, failureCode: 'INPUT_EXPIRED' });
    expect(next.context.nextTurnIndex - snapshot.context.nextTurnIndex).toBe(2);
  });
});

describe('an unknown outcome', () => {
  const unknown = [messaged, calledTools(planned(0)), becameUnknown('call-0')];

  test('owes nothing until a person decides', () => {
    const snapshot = snapshotAfter(...unknown);
    expect(snapshot.value).toBe('AWAITING_INPUT');
    expect(snapshot.context.calls).toMatchObject([{ status: 'RUNNING', attempt: 1, unknownReason: 'crash' }]);
    expect(effectsOf(snapshot)).toEqual([]);
    expect(snapshot.can(settled(result('call-0')))).toBe(false);
    expect(snapshot.can(started('call-0', 2))).toBe(false);
  });

  test('run again: the next attempt is owed, and may become unknown in turn', () => {
    const again = [...unknown, settledByPerson('call-0', 'runAgain')];
    expect(effectsOf(snapshotAfter(...again))).toMatchObject([{ type: 'startExecution', attempt: 2 }]);
    const secondRound = snapshotAfter(...again, started('call-0', 2), becameUnknown('call-0', 2));
    expect(secondRound.value).toBe('AWAITING_INPUT');
    expect(secondRound.can(settledByPerson('call-0', 'runAgain'))).toBe(true);
  });

  test('a takeover in between changes nothing', () => {
    expect(snapshotAfter(...unknown, tookOver).context).toEqual(snapshotAfter(...unknown).context);
  });

  test('evidence settles it also after a person said that it runs again, before it started', () => {
    const evidence: SessionEvent = evidenced(0, 'call-0');
    expect(snapshotAfter(...unknown, settledByPerson('call-0', 'runAgain'), evidence).value).toBe('PLANNING');
  });

  test('evidence of an earlier attempt is late: it decides nothing and is told in turns of its own', () => {
    const again = snapshotAfter(...unknown, settledByPerson('call-0', 'runAgain'), started('call-0', 2));
    const next = nextSnapshot(again, evidenced(1, 'call-0'));
    expect(next.context).toEqual({ ...again.context, nextTurnIndex: again.context.nextTurnIndex + 1 });
  });

  test('evidence of a call that was given up settles it while its turn is open', () => {
    const before = [messaged, calledTools(planned(0), planned(1)), settled(result('call-0', { outcome: 'timedOut' }))];
    const evidence: SessionEvent = evidenced(0, 'call-0');
    expect(snapshotAfter(...before, evidence).context.calls[0]).toMatchObject({ status: 'SUCCESS' });
  });
});

test('C28 nothing runs without an unknown outcome unless the state is EXECUTING_TOOL', () => {
  const snapshot = snapshotAfter(
    messaged,
    calledTools(planned(0), planned(1)),
    becameUnknown('call-0'),
    becameUnknown('call-1'),
  );
  expect(snapshot.value).toBe('AWAITING_INPUT');
  expect(snapshot.context.calls.filter(isInFlight)).toEqual([]);
});

function effectsOf(snapshot: SessionSnapshot) {
  return pendingEffects(snapshot, rowsOf(snapshot));
}

describe('an attempt that may have acted is remembered', () => {
  const LOST = { before: 'crash' } as const;
  /** A call whose first attempt was lost, and whose second one is out. */
  const again = [messaged, calledTools(planned(0)), started('call-0', 2, LOST)];
  const refused = settled(result('call-0', { attempt: 2, outcome: 'failed' }));
  const wantsRetry = (unknown?: 'reported'): SessionEvent => ({
    type: 'tool.attemptFailed',
    results: [{ executionId: 'call-0', attempt: 1, retryInMs: 10, ...(unknown ? { unknown } : {}), content: {} }],
  });
  const [cancelledCall, limitedCall] = [cancelled, limitMet].map(
    (event) => (before: SessionEvent[]) => callsAfter(snapshotAfter(...before).context.calls, event),
  );

  test('a later one that fails leaves it unknown, and a person is asked', () => {
    const snapshot = snapshotAfter(...again, refused);
    expect(snapshot.value).toBe('AWAITING_INPUT');
    expect(snapshot.context.calls).toMatchObject([{ status: 'RUNNING', unknownReason: 'crash', doubt: 'crash' }]);
  });

  test.each<[string, SessionEvent, string]>([
    ['a later one succeeds', settled(result('call-0', { attempt: 2 })), 'PLANNING'],
    ['it is given up', settled(result('call-0', { attempt: 2, outcome: 'timedOut' })), 'PLANNING'],
    [
      'reconcile says that nothing happened',
      settled(result('call-0', { attempt: 2, outcome: 'failed', by: 'reconcile' })),
      'PLANNING',
    ],
  ])('%s: the call is over', (_, event, state) => {
    expect(snapshotAfter(...again, event).value).toBe(state);
  });

  test('it did not act after all: the next failure is one', () => {
    const cleared = snapshotAfter(...again, started('call-0', 3, { before: 'notDone' }));
    expect(cleared.context.calls[0]).not.toHaveProperty('doubt');
    expect(nextSnapshot(cleared, settled(result('call-0', { attempt: 3, outcome: 'failed' }))).value).toBe('PLANNING');
  });

  test('a person who is asked once more says how it ended', () => {
    expect(snapshotAfter(...again, refused, settledByPerson('call-0', 'failed')).value).toBe('PLANNING');
    const third = snapshotAfter(...again, refused, settledByPerson('call-0', 'runAgain'), started('call-0', 3));
    expect(third.context.calls).toMatchObject([{ attempt: 3, unknownReason: null, doubt: 'crash' }]);
  });

  test('evidence that the last attempt failed settles nothing', () => {
    const evidence = (attempt: number): SessionEvent => ({
      type: 'tool.evidenced',
      results: [{ executionId: 'call-0', attempt, outcome: 'failed', content: {} }],
      systemTurns: 1,
    });
    expect(snapshotAfter(...again, evidence(2)).context.calls).toMatchObject([{ unknownReason: 'crash' }]);
    const asked = snapshotAfter(...again, refused);
    expect(nextSnapshot(asked, evidence(2)).context.calls).toEqual(asked.context.calls);
  });

  test.each([
    ['a cancel', cancelledCall],
    ['a limit', limitedCall],
  ])('%s while the next attempt waits: known to have done nothing only where none may have acted', (_, after) => {
    const waiting = (unknown?: 'reported') => [messaged, calledTools(planned(0)), wantsRetry(unknown)];
    expect(after!(waiting())).toMatchObject([{ status: 'FAILED' }]);
    expect(after!(waiting('reported'))).toMatchObject([{ status: 'TIMED_OUT', doubt: 'reported' }]);
  });

  test('a snapshot from before it was remembered has no doubt, and reads as it stands', () => {
    const { value, context } = encodeSnapshot(snapshotAfter(messaged, calledTools(planned(0)), started('call-0', 2)));
    expect(context.calls[0]).not.toHaveProperty('doubt');
    const stored = {
      machineId: SESSION_MACHINE_ID,
      machineVersion: 1,
      currentState: value,
      snapshot: { value, context },
    };
    expect(nextSnapshot(decodeSnapshot(stored), refused).value).toBe('PLANNING');
  });
});
