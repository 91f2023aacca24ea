import { expect, test } from 'vitest';
import type { BenchResult } from '../../bench/report.ts';
import { spawnChild } from '../support/child.ts';

test('C51 the short form of the benchmark runs on a server of its own and finds everything as promised', {
  timeout: 180_000,
}, async () => {
  const bench = spawnChild('bench/commit.bench.ts', { args: ['--quick', '--json'] });
  expect(await bench.exited, bench.output).toEqual({ code: 0, signal: null });
  const { violations, growth, commit } = JSON.parse(bench.output) as BenchResult;
  expect(violations).toEqual([]);
  expect(growth.walBytes?.many).toBeGreaterThan(1_000);
  for (const { p50, p95 } of Object.values(commit)) expect(p50 > 0 && p95 >= p50).toBe(true);
});
