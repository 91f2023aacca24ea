import { expect, test } from 'vitest';
import { MAX_IDLE_BYTES, memoryViolationsOf } from '../../bench/memory-report.ts';

const steady = { first: 30_000_000, last: 35_900_000 };
const grown = { first: 30_000_000, last: 36_100_000 };
const small = { started: MAX_IDLE_BYTES, idle: MAX_IDLE_BYTES };

test('a heap that grew by less than a fifth, or fell, and an idle worker within its bound are as promised', () => {
  const fallen = { first: 30_000_000, last: 20_000_000 };
  expect(memoryViolationsOf({ newSessions: steady, oneSession: fallen }, small)).toEqual([]);
});

test.each([
  ['new sessions', { newSessions: grown, oneSession: steady }, small],
  ['one session', { newSessions: steady, oneSession: grown }, small],
  ['an idle worker', { newSessions: steady, oneSession: steady }, { started: MAX_IDLE_BYTES + 1, idle: 1 }],
  ['an idle worker', { newSessions: steady, oneSession: steady }, { started: 1, idle: MAX_IDLE_BYTES + 1 }],
])('%s beyond its bound is one violation', (what, heap, idle) => {
  expect(memoryViolationsOf(heap, idle)).toEqual([expect.stringContaining(what)]);
});
