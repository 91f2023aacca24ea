import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { KillClock } from '../../../../adapters/cli/rehearse/kill-clock.ts';
import { type PlannedKill, planKills } from '../../../../adapters/cli/rehearse/kill-plan.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function clockOf(...plan: PlannedKill[]): { clock: KillClock; kill: ReturnType<typeof vi.fn<() => void>> } {
  const kill = vi.fn<() => void>();
  const never: PlannedKill = { afterCalls: 1_000, delayMs: 0, nextDiesAfterMs: null };
  return { clock: new KillClock(() => plan.shift() ?? never, kill), kill };
}

test('the kill comes so long after so many calls, and only once', () => {
  const { clock, kill } = clockOf({ afterCalls: 2, delayMs: 10, nextDiesAfterMs: null });
  clock.callBegan();
  vi.advanceTimersByTime(100);
  clock.callBegan();
  vi.advanceTimersByTime(9);
  expect(kill).toHaveBeenCalledTimes(0);
  clock.callBegan();
  vi.advanceTimersByTime(1_000);
  expect(kill).toHaveBeenCalledTimes(1);
});

test('calls that began while a kill was under way count for the next one', () => {
  const { clock, kill } = clockOf(
    { afterCalls: 1, delayMs: 10, nextDiesAfterMs: null },
    { afterCalls: 2, delayMs: 0, nextDiesAfterMs: null },
  );
  clock.callBegan();
  clock.callBegan();
  vi.advanceTimersByTime(10);
  clock.callBegan();
  vi.advanceTimersByTime(0);
  expect(kill).toHaveBeenCalledTimes(2);
});

test('a worker that shall not live is killed without a call', () => {
  const { clock, kill } = clockOf({ afterCalls: 1, delayMs: 0, nextDiesAfterMs: 500 });
  clock.callBegan();
  vi.advanceTimersByTime(499);
  expect(kill).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  expect(kill).toHaveBeenCalledTimes(2);
});

test('nobody is killed once it is stopped', () => {
  const { clock, kill } = clockOf({ afterCalls: 1, delayMs: 10, nextDiesAfterMs: null });
  clock.callBegan();
  clock.stop();
  clock.callBegan();
  vi.advanceTimersByTime(1_000);
  expect(kill).toHaveBeenCalledTimes(0);
});

test('a plan is drawn from its seed, and comes to one kill for so many calls', () => {
  const draw = (seed: number) => {
    const next = planKills({ seed, killEvery: 5, toolMs: 20 });
    return Array.from({ length: 2_000 }, next);
  };
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
  const plan = draw(3);
  const calls = plan.reduce((sum, { afterCalls }) => sum + afterCalls, 0);
  const kills = plan.reduce((sum, { nextDiesAfterMs }) => sum + (nextDiesAfterMs === null ? 1 : 2), 0);
  expect(calls / kills).toBeGreaterThan(4.7);
  expect(calls / kills).toBeLessThan(5.3);
  expect(plan.every(({ afterCalls, delayMs }) => afterCalls >= 1 && delayMs <= 200)).toBe(true);
});

test('even a kill for every call needs a new call', () => {
  const next = planKills({ seed: 1, killEvery: 1, toolMs: 20 });
  expect(Array.from({ length: 100 }, next).every(({ afterCalls }) => afterCalls >= 1)).toBe(true);
});
