import { expect, test } from 'vitest';
import { saidBy } from '../../../testing/invariants/said-by.ts';

test('an invariant holds where it says nothing or true, and else says what was seen', () => {
  expect([undefined, true].map((said) => saidBy('it holds', () => said))).toEqual([null, null]);
  expect([false, 'two'].map((said) => saidBy('it holds', () => said))).toEqual(['it does not hold', 'two']);
  const throws = (thrown: unknown) =>
    saidBy('it holds', () => {
      throw thrown;
    });
  expect([throws(new Error('three')), throws('four'), throws(undefined)]).toEqual(['three', 'four', 'undefined']);
});

test('what is neither is refused by the name of the invariant: a promise, also one that rejects, counts as nothing', () => {
  const odd = [Promise.resolve(false), Promise.reject(new Error('no')), Number.NaN, 0, null, []];
  for (const said of odd) {
    expect(() => saidBy('it holds', () => said)).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID', message: expect.stringContaining('"it holds"') }),
    );
  }
});
