import { expect, test } from 'vitest';
import { POLL_MS } from '../../../runtime/rest-of-run.ts';
import { VirtualClock } from '../../../testing/clock/virtual-clock.ts';

/** Sleeps, and notes its name when it wakes. */
function sleepers(clock: VirtualClock) {
  const woken: string[] = [];
  const sleep = (name: string, ms: number, signal?: AbortSignal) =>
    clock.sleep(ms, signal).then(
      () => void woken.push(name),
      (reason: unknown) => void woken.push(`${name}: ${String(reason)}`),
    );
  return { woken, sleep };
}

/** Whatever is resolved by now has gone on. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test('stands still between two jumps, and begins when it is told', () => {
  const clock = new VirtualClock(1_000);
  expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
  clock.jump(500);
  expect([clock.now(), clock.monotonic()]).toEqual([1_500, 500]);
  expect(new VirtualClock().now()).toBe(Date.UTC(2030, 0, 1, 9, 30));
});

test('whoever sleeps wakes in the order of time, once its time has come and it is called', async () => {
  const clock = new VirtualClock();
  const { woken, sleep } = sleepers(clock);
  void sleep('late', 300);
  void sleep('early', 100);
  void sleep('tomorrow', 86_400_000);
  void sleep('at once', 0);
  void sleep('in the past', -5);
  expect(clock.wakeDue()).toBe(true);
  await settled();
  expect(woken).toEqual(['at once', 'in the past']);
  clock.jump(300);
  await settled();
  expect(woken).toHaveLength(2);
  expect(clock.wakeDue()).toBe(true);
  await settled();
  expect(woken.slice(2)).toEqual(['early', 'late']);
  expect(clock.wakeDue()).toBe(false);
});

test('says when the next one wakes that does more than to look again', async () => {
  const clock = new VirtualClock();
  const { sleep } = sleepers(clock);
  expect(clock.nextWakeInMs).toBe(Number.POSITIVE_INFINITY);
  void sleep('looks', POLL_MS);
  expect(clock.nextWakeInMs).toBe(Number.POSITIVE_INFINITY);
  void sleep('works', 5_000);
  clock.jump(1_000);
  expect(clock.nextWakeInMs).toBe(4_000);
  clock.jump(10_000);
  expect(clock.nextWakeInMs).toBe(0);
});

test('a sleep ends with its signal, and is forgotten', async () => {
  const clock = new VirtualClock();
  const { woken, sleep } = sleepers(clock);
  const over = new AbortController();
  void sleep('one', 100, over.signal);
  over.abort('enough');
  void sleep('two', 100, over.signal);
  await settled();
  expect(woken).toEqual(['one: enough', 'two: enough']);
  clock.jump(100);
  expect(clock.wakeDue()).toBe(false);
});
