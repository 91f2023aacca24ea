import { expect, test } from 'vitest';
import type { LookCost } from '../../bench/measure-claims.ts';
import { readWorkersOptions } from '../../bench/workers-options.ts';
import { workersViolationsOf } from '../../bench/workers-report.ts';

const cheap: LookCost = { perSecond: 100, scanned: 0, fetched: 16, pages: 50 };
const nothing: LookCost = { ...cheap, fetched: 0 };

function claims(over: { idle?: Partial<LookCost>; busy?: Partial<LookCost>; found?: number } = {}) {
  return {
    sleepers: 100_000,
    found: over.found ?? 16,
    idle: { without: nothing, with: { ...nothing, ...over.idle } },
    busy: { without: cheap, with: { ...cheap, ...over.busy } },
  };
}

test('looks that read what they find, however long they take, are as promised', () => {
  expect(workersViolationsOf(claims({ idle: { perSecond: 1 }, busy: { perSecond: 1 } }))).toEqual([]);
});

test.each([
  ['finds nothing', { idle: { scanned: 1 } }],
  ['finds nothing', { idle: { fetched: 50_000 } }],
  ['finds 16', { busy: { scanned: 100_016 } }],
  ['finds 16', { busy: { fetched: 50_016 } }],
  ['found 15 of as many', { found: 15 }],
])('a look beyond its bound is one violation: %s, %o', (what, over) => {
  expect(workersViolationsOf(claims(over))).toEqual([expect.stringContaining(what)]);
});

test('the short form measures the same, with less of each', () => {
  const [full, quick] = [readWorkersOptions([]), readWorkersOptions(['--quick'])];
  expect(full).toMatchObject({ processes: [1, 2, 4], sessions: [1, 4, 16], sleepers: 100_000, database: undefined });
  expect(Object.keys(quick ?? {})).toEqual(Object.keys(full ?? {}));
  expect(readWorkersOptions(['--help'])).toBeNull();
});
