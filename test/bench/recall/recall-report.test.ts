import { describe, expect, test } from 'vitest';
import type { SizeResult } from '../../../bench/recall/measure-recall.ts';
import { readRecallOptions } from '../../../bench/recall/recall-options.ts';
import { recallOf, recallViolationsOf, renderRecall } from '../../../bench/recall/recall-report.ts';
import { LARGE, ownersOf, QUICK, SMALL } from '../../../bench/recall/tenants-of.ts';

const latency = { p50: 1, p95: 2 };

function size(memories: number, recallAt10: number, more: Partial<SizeResult> = {}): SizeResult {
  const times = { hybrid: { p50: 3, p95: 6 }, vector: latency, text: latency, plain: latency };
  return { memories, owners: 1, queries: 10, recallAt10, short: 0, ...times, ...more };
}

describe('what is not as promised', () => {
  test('nothing, at the bound', () => {
    expect(recallViolationsOf([size(30_000, 0.95), size(50, 0.95)])).toEqual([]);
  });

  test('too little found over all, of small tenants, and fewer than there are', () => {
    expect(recallViolationsOf([size(30_000, 0.9), size(50, 1)])).toEqual([]);
    expect(recallViolationsOf([size(30_000, 0.8), size(50, 1)])).toEqual([
      'recall@10 over all is 0.900 (wanted at least 0.95)',
    ]);
    expect(recallViolationsOf([size(30_000, 1), size(50, 0.94)])).toEqual([
      'recall@10 of tenants with 50 memories is 0.940 (wanted at least 0.95)',
    ]);
    expect(recallViolationsOf([size(50, 1, { short: 3 })])).toEqual(['3 queries found fewer memories than there are']);
  });

  test('no tenants with 50 memories at all', () => {
    expect(recallViolationsOf([size(30_000, 1)])).toEqual([expect.stringContaining('NaN')]);
  });
});

test('recall over all counts each query once', () => {
  expect(recallOf([size(1, 1, { queries: 30 }), size(2, 0, { queries: 10 })])).toBe(0.75);
});

test('the report names what was measured, and what is not as promised', () => {
  const machine = { date: '2026-01-01', cpu: 'CPU', cores: 2, load: 0, node: '24', server: 'PostgreSQL' };
  const ingestion = { memoriesInBatches: 1, vectorsInBatches: 2, remembered: 3, rememberedWithVectors: 4 };
  const result = { machine, rows: 10, tenants: 1, dimensions: 8, sizes: [size(50, 0.5)], ingestion, violations: ['x'] };
  const text = renderRecall(result);
  expect(text).toContain('recall@10 over all 0.500');
  expect(text).toMatch(/50 \(1\) +0\.500 +3\.00 +3\.00 +3\.0, 6\.0/);
  expect(text).toContain('NOT AS PROMISED: x');
});

test.each([
  ['large', LARGE, 100_000, 1_000],
  ['small', SMALL, 10_000, 104],
  ['quick', QUICK, 5_000, 85],
] as const)(
  'the %s form has the memories and the tenants that it says, some with 50 memories',
  (_, sizes, rows, tenants) => {
    const owners = ownersOf(sizes);
    expect(owners.reduce((sum, { memories }) => sum + memories, 0)).toBe(rows);
    expect(new Set(owners.map(({ tenantId }) => tenantId)).size).toBe(tenants);
    expect(owners.filter(({ memories }) => memories === 50).length).toBeGreaterThanOrEqual(30);
  },
);

test('the command line', () => {
  expect(readRecallOptions(['--help'])).toBeNull();
  expect(readRecallOptions([])).toMatchObject({ sizes: LARGE, isPglite: false });
  expect(readRecallOptions(['--pglite'])).toMatchObject({ sizes: SMALL, isPglite: true });
  expect(readRecallOptions(['--quick', '--pglite'])).toMatchObject({ sizes: QUICK, isPglite: true });
  expect(() => readRecallOptions(['--fast'])).toThrow();
});
