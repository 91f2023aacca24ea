import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeProperties, runs, seed } from '../support/property.ts';

describeProperties('the seed', () => {
  test('explores the same values in every property of a run', () => {
    const first: number[][] = [[], []];
    for (const seen of first)
      fc.assert(
        fc.property(fc.integer(), (value) => void seen.push(value)),
        { numRuns: 20 },
      );
    expect(first[0]).toEqual(first[1]);
    expect(fc.readConfigureGlobal().seed).toBe(seed);
  });

  test('is the parameter of runs', () => {
    fc.assert(
      fc.property(fc.integer(), (value) => {
        expect(value + 0).toBe(value);
      }),
      runs(10),
    );
  });
});
