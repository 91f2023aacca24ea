import { describe, expect, test } from 'vitest';
import { boundsOfMean, meanOf, retrievalOf } from '../../../bench/recall/retrieval-metrics.ts';
import { seededRandom } from '../../../bench/seeded-random.ts';

describe('how well a query was answered', () => {
  test('at best: everything relevant, first', () => {
    expect(retrievalOf(['a', 'b', 'x'], ['b', 'a'])).toEqual({
      recallAt5: 1,
      recallAt10: 1,
      reciprocalRank: 1,
      ndcgAt10: 1,
    });
  });

  test('at worst: nothing of it, or nothing at all', () => {
    const nothing = { recallAt5: 0, recallAt10: 0, reciprocalRank: 0, ndcgAt10: 0 };
    expect(retrievalOf(['x', 'y'], ['a'])).toEqual(nothing);
    expect(retrievalOf([], ['a'])).toEqual(nothing);
  });

  test('in between: by places, and only the first ten count', () => {
    const found = ['x', 'a', 'x2', 'x3', 'x4', 'b', 'x5', 'x6', 'x7', 'x8', 'c'];
    const { recallAt5, recallAt10, reciprocalRank, ndcgAt10 } = retrievalOf(found, ['a', 'b', 'c']);
    expect([recallAt5, recallAt10, reciprocalRank]).toEqual([1 / 3, 2 / 3, 1 / 2]);
    // Worked out by hand: 1/log2(3) + 1/log2(7), over 1 + 1/log2(3) + 1/log2(4).
    expect(ndcgAt10).toBeCloseTo((0.63093 + 0.356207) / 2.13093, 5);
  });

  test('the mean of many', () => {
    const mean = meanOf([retrievalOf(['a'], ['a']), retrievalOf(['x'], ['a'])]);
    expect(mean).toEqual({ recallAt5: 0.5, recallAt10: 0.5, reciprocalRank: 0.5, ndcgAt10: 0.5 });
  });
});

describe('the bounds of a mean', () => {
  test('hold it, are the same for the same seed, and are narrower the more there is', () => {
    const few = Array.from({ length: 20 }, (_, index) => index % 2);
    const many = Array.from({ length: 2_000 }, (_, index) => index % 2);
    const [low, high] = boundsOfMean(few, seededRandom(1));
    expect(boundsOfMean(few, seededRandom(1))).toEqual([low, high]);
    expect([low < 0.5, high > 0.5]).toEqual([true, true]);
    const [manyLow, manyHigh] = boundsOfMean(many, seededRandom(1));
    expect(manyHigh - manyLow).toBeLessThan((high - low) / 5);
  });

  test('of what does not differ are that', () => {
    expect(boundsOfMean([0.25, 0.25], seededRandom(1))).toEqual([0.25, 0.25]);
  });
});

test('numbers of a seed lie evenly from 0 to 1', () => {
  const random = seededRandom(7);
  const numbers = Array.from({ length: 10_000 }, random);
  expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...numbers)).toBeLessThan(1);
  for (const decile of [1, 5, 9]) {
    expect(numbers.filter((number) => number < decile / 10).length / 1_000).toBeCloseTo(decile, 0);
  }
});
