import { afterEach, describe, expect, test, vi } from 'vitest';
import { FAULT_POINTS, systemEnvironment } from '../environment.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('systemEnvironment', () => {
  test('ids are UUIDs in lower case, each another one', () => {
    const ids = Array.from({ length: 100 }, () => systemEnvironment.uuid());
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(100);
  });

  test('random is from 0 inclusive to 1 exclusive', () => {
    for (let count = 0; count < 100; count += 1) {
      const number = systemEnvironment.random();
      expect(number >= 0 && number < 1).toBe(true);
    }
  });

  test('the wall clock is the machine’s, the monotonic one never goes back', () => {
    expect(Math.abs(systemEnvironment.now() - Date.now())).toBeLessThan(1_000);
    const first = systemEnvironment.monotonic();
    expect(systemEnvironment.monotonic()).toBeGreaterThanOrEqual(first);
  });

  test.each(FAULT_POINTS)('%s is inert', (point) => {
    expect(systemEnvironment.faultPoint(point, {})).toBeUndefined();
  });
});

describe('sleep', () => {
  test('resolves after its time, and not before', async () => {
    const start = performance.now();
    await systemEnvironment.sleep(30);
    expect(performance.now() - start).toBeGreaterThanOrEqual(29);
  });

  test.each([0, -5])('of %i resolves in a later turn', async (ms) => {
    let hasPassed = false;
    const sleeping = systemEnvironment.sleep(ms).then(() => {
      hasPassed = true;
    });
    expect(hasPassed).toBe(false);
    await sleeping;
    expect(hasPassed).toBe(true);
  });

  test('rejects with the reason as soon as the signal aborts', async () => {
    const controller = new AbortController();
    const sleeping = systemEnvironment.sleep(60_000, controller.signal);
    const reason = new Error('drained');
    controller.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
  });

  test('rejects at once when the signal is aborted already', async () => {
    const reason = new Error('too late');
    await expect(systemEnvironment.sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  test('leaves no listener on the signal behind', async () => {
    const controller = new AbortController();
    const removed = vi.spyOn(controller.signal, 'removeEventListener');
    const added = vi.spyOn(controller.signal, 'addEventListener');
    await systemEnvironment.sleep(1, controller.signal);
    expect(removed.mock.calls.length).toBe(added.mock.calls.length);
  });

  test('a time beyond what a timer holds is waited for in parts', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const controller = new AbortController();
    const sleeping = systemEnvironment.sleep(2 ** 31 + 5_000, controller.signal);
    const state = vi.fn();
    sleeping.then(state, state);
    controller.abort(new Error('enough'));
    await expect(sleeping).rejects.toThrow('enough');
    expect(state).toHaveBeenCalledOnce();
  });
});
