import { expect, test } from 'vitest';
import { systemEnvironment } from '../../../environment.ts';
import { ManualClock } from '../../../testing/clock/manual-clock.ts';

const HOUR_MS = 3_600_000;

test('goes by itself, and jumps when it is told', () => {
  const clock = new ManualClock();
  const [now, monotonic] = [systemEnvironment.now(), systemEnvironment.monotonic()];
  expect(clock.now()).toBeGreaterThanOrEqual(now);
  clock.advance(HOUR_MS);
  clock.advance(HOUR_MS);
  expect(clock.now() - now).toBeGreaterThanOrEqual(2 * HOUR_MS);
  expect(clock.monotonic() - monotonic).toBeGreaterThanOrEqual(2 * HOUR_MS);
});

test('whoever sleeps into a jump wakes at once; the others sleep on', async () => {
  const clock = new ManualClock();
  const over = new AbortController();
  const short = clock.sleep(HOUR_MS);
  const long = clock.sleep(3 * HOUR_MS, over.signal);
  expect(clock.sleepsMs).toHaveLength(2);
  expect(clock.longestSleepMs).toBeGreaterThan(2 * HOUR_MS);
  clock.advance(HOUR_MS);
  await short;
  expect(clock.sleepsMs).toHaveLength(1);
  expect(clock.longestSleepMs).toBeLessThanOrEqual(2 * HOUR_MS);
  over.abort(new Error('enough'));
  await expect(long).rejects.toThrow('enough');
  expect(clock.longestSleepMs).toBe(0);
});

test('a sleep of no time needs no jump, and one with a signal that is aborted does not begin', async () => {
  const clock = new ManualClock();
  await clock.sleep(0);
  await expect(clock.sleep(HOUR_MS, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  expect(clock.sleepsMs).toEqual([]);
});

test('has ids and chance as every environment has, and no faults', () => {
  const clock = new ManualClock();
  expect(clock.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  expect(clock.uuid()).not.toBe(clock.uuid());
  expect(clock.random()).toBeLessThan(1);
  expect(clock.faultPoint()).toBeUndefined();
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, -1, '5' as never])('%s is no time that can pass', (ms) => {
  const clock = new ManualClock();
  expect(() => clock.advance(ms)).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
  expect(clock.now()).toBeGreaterThan(0);
  expect(clock.now()).toBeLessThan(systemEnvironment.now() + HOUR_MS);
});
