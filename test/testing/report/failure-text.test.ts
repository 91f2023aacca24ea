import { expect, test } from 'vitest';
import { failureText } from '../../../testing/report/failure-text.ts';

/** The timeline of a failure, at these times. */
function timesOf(times: readonly number[]): string[] {
  const timeline = times.map((at) => ({ at, process: 1, what: 'starts' }));
  const failure = { invariant: 'it holds', message: 'no', commands: [], timeline, replay: 'x', kept: null };
  const lines = failureText(failure, { call: 'checkPolicy', seed: 1, runs: 1 }).split('\n');
  return lines.filter((line) => line.endsWith('starts'));
}

test('times are told as people read them, whatever back-offs there were', () => {
  expect(timesOf([0, 600_000, 1_026.724365234375, 0.2, 602_870.9997558594, 3_463_201_000])).toEqual([
    '  at once     process 1: starts',
    '  +10 min     process 1: starts',
    '  +1027 ms    process 1: starts',
    '  +1 ms       process 1: starts',
    '  +10 min 3 s process 1: starts',
    '  +962 h 1 s  process 1: starts',
  ]);
});
