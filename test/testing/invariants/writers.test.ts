import { expect, test } from 'vitest';
import { PROMISE_NAMES } from '../../../testing/invariants/promise-names.ts';
import { Writers } from '../../../testing/invariants/writers.ts';

const transaction = () => ({ isOver: false });
const name = () => 'session 1';

test('two transactions that are past the lock of one session at the same time break its promise', () => {
  const writers = new Writers();
  writers.passedLock('s', transaction(), name);
  expect(writers.broken).toBeNull();
  writers.passedLock('s', transaction(), name);
  expect(writers.broken?.invariant).toBe(PROMISE_NAMES.writer);
});

test('one after the other, of two sessions, or one that passes twice do not', () => {
  const writers = new Writers();
  const [first, second] = [transaction(), transaction()];
  writers.passedLock('s', first, name);
  writers.passedLock('s', first, name);
  writers.passedLock('other', transaction(), name);
  first.isOver = true;
  writers.passedLock('s', second, name);
  expect(writers.broken).toBeNull();
});
