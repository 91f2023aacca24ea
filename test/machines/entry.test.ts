import { expect, test } from 'vitest';
import * as entry from '../../machines/index.ts';

test('turnlock/machines gives these names and no other', () => {
  expect(Object.keys(entry).sort()).toEqual([
    'EFFECT_CLASSES',
    'EXECUTION_STATUSES',
    'FLOW_ONLY_PAIRS',
    'RESTING_STATES',
    'SESSION_MACHINE_ID',
    'SESSION_MACHINE_VERSION',
    'SESSION_STATES',
    'UNKNOWN_REASONS',
    'acceptedEvents',
    'beginFold',
    'decodeSnapshot',
    'encodeSnapshot',
    'endFold',
    'executionGraph',
    'foldTransitions',
    'initialSnapshot',
    'isInFlight',
    'isLegalTransition',
    'isResting',
    'isSettled',
    'nextSnapshot',
    'pendingEffects',
    'recordedEvent',
    'sessionGraph',
    'sessionMachine',
    'toolExecutionMachine',
    'waitsForPerson',
    'waitsToRetry',
  ]);
});

test('a program can fold recorded transitions with what the entry gives', () => {
  const { initialSnapshot, nextSnapshot, isResting } = entry;
  const recorded = [
    { type: 'user.messaged', runId: 'run-1' },
    { type: 'model.replied', runId: 'run-1', final: false },
  ] as entry.SessionEvent[];
  const snapshot = recorded.reduce(nextSnapshot, initialSnapshot());
  expect([snapshot.value, isResting(snapshot.value), snapshot.context.nextTurnIndex]).toEqual(['IDLE', true, 2]);
});
