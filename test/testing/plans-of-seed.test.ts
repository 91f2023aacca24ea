import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FaultCommand } from '../../testing/plan/plan.ts';
import { planArbitrary } from '../../testing/plan/plan-arbitrary.ts';
import { readPlan, writePlan } from '../../testing/plan/plan-text.ts';
import { plansOfSeed } from '../../testing/plan/plans-of-seed.ts';
import { simpleSchedules } from '../../testing/plan/sweep-arbitrary.ts';

const FAULTS = ['crash', 'stall', 'disconnect', 'timeout'] as const;
const space = {
  calls: { refund: fc.record({ order: fc.constantFrom('1', '2') }) },
  sessions: 2,
  tenants: 1,
  faults: FAULTS,
};

/** Runs after which every simple schedule was met: every second run is one. */
const ROUND = 2 * simpleSchedules(FAULTS).length;

test('70 runs have met every single fault at the first three places, whatever the seed', () => {
  expect(ROUND).toBeLessThanOrEqual(70);
  for (const seed of [1, 2, 3]) {
    const simple = [...plansOfSeed(space, { numRuns: 70, seed })].filter((_, run) => run % 2 === 1);
    const faults = simple.flatMap(({ commands }) =>
      commands.filter((one): one is FaultCommand => one.type === 'fault'),
    );
    const met = new Set(faults.map(({ fault, point, occurrence }) => `${fault} ${point} ${occurrence}`));
    for (const fault of ['crash', 'stall', 'timeout']) {
      for (const occurrence of [1, 2, 3]) expect(met).toContain(`${fault} place ${occurrence}`);
    }
  }
});

test('one seed gives the same plans, another one others, and a plan survives its text', () => {
  const [first, again, other] = [1, 1, 2].map((seed) => [...plansOfSeed(space, { numRuns: 21, seed })]);
  expect(first).toHaveLength(21);
  expect(again).toEqual(first);
  expect(other).not.toEqual(first);
  for (const plan of first ?? []) expect(readPlan(writePlan(plan), Object.keys(space.calls))).toEqual(plan);
});

test('faults that are not wanted are in no plan, and without any the same is asked for twice', () => {
  const plans = [...plansOfSeed({ ...space, faults: [] }, { numRuns: 40, seed: 1 })];
  expect(plans.flatMap(({ commands }) => commands).filter(({ type }) => type === 'fault')).toEqual([]);
  expect(plans[1]?.commands).toHaveLength(2);
  const crashes = [...plansOfSeed({ ...space, faults: ['crash'] }, { numRuns: 40, seed: 1 })];
  const kinds = new Set(
    crashes.flatMap(({ commands }) => commands.flatMap((one) => (one.type === 'fault' ? [one.fault] : []))),
  );
  expect([...kinds]).toEqual(['crash']);
});

test.each([fc.record({ cents: fc.bigInt() }), fc.constant(() => 1), fc.constant(Symbol('none'))])(
  'params that no JSON holds are refused by the name of their tool (%#)',
  (refund) => {
    expect(() => [...plansOfSeed({ ...space, calls: { refund } }, { numRuns: 1, seed: 1 })]).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID', message: expect.stringContaining('calls.refund') }),
    );
  },
);

test('plans are made as they are played, and how many are played changes none of them', () => {
  let made = 0;
  const counted = {
    ...space,
    calls: { refund: space.calls.refund.map((params) => ({ ...params, made: ++made > 0 })) },
  };
  const [first] = plansOfSeed(counted, { numRuns: 2_000_000, seed: 1 });
  expect(made).toBeLessThan(2_000);
  expect(first).toEqual(plansOfSeed(counted, { numRuns: 1, seed: 1 }).next().value);
  const all = [...plansOfSeed(space, { numRuns: 500, seed: 1 })];
  expect(all).toHaveLength(500);
  const any = fc.sample(planArbitrary(space), { numRuns: 250, seed: 1 });
  expect(all.filter((_, run) => run % 2 === 0)).toEqual(any);
});
