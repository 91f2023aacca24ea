import { expect, test } from 'vitest';
import type { Growth } from '../../bench/measure-growth.ts';
import type { RunCost } from '../../bench/measure-run.ts';
import { difference } from '../../bench/statistics.ts';
import { violationsOf } from '../../bench/violations.ts';

const compared = (none: number, many: number) => ({ none, many, difference: difference(none, many) });
const cost = { event: 'x', statements: 10, roundTrips: 7 };
const run: RunCost = { statements: 51, roundTrips: 36, reads: 1, commits: [cost, cost, cost, cost] };
const growth: Growth = {
  statements: compared(50, 50),
  roundTrips: compared(36, 36),
  walBytes: compared(10_000, 10_900),
  walBytesWithPages: compared(100_000, 200_000),
  ms: compared(10, 30),
};

test('times and images of pages are no violation', () => {
  expect(violationsOf(run, growth)).toEqual([]);
});

test.each<[string, Partial<Growth>]>([
  ['statements', { statements: compared(50, 56) }],
  ['round trips', { roundTrips: compared(36, 32) }],
  ['bytes of WAL', { walBytes: compared(10_000, 11_100) }],
])('%s more than 10 %% apart are one, in either direction', (what, change) => {
  expect(violationsOf(run, { ...growth, ...change })).toEqual([expect.stringContaining(what)]);
});

test('a fifth commit is one', () => {
  const commits = [...run.commits, cost];
  expect(violationsOf({ ...run, commits }, growth)).toEqual(['a run with one tool call is 5 commits, wanted 4']);
});
