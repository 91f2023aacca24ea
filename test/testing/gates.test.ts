import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Gates } from '../../testing/play/gates.ts';

/** Who is let on by the first release, of three that wait. */
async function letOn(gates: Gates): Promise<number[]> {
  const on: number[] = [];
  for (const one of [1, 2, 3]) void gates.pass().then(() => on.push(one));
  expect(gates.release()).toBe(true);
  await turn();
  return on;
}

test('one at a time is let on where all take turns, the first one without an order', async () => {
  expect(await letOn(new Gates(0, false))).toEqual([1]);
  expect(await letOn(new Gates(7, false))).toHaveLength(1);
});

test('all are let on at once where they may overlap, and with an order also one alone', async () => {
  expect(await letOn(new Gates(0, true))).toEqual([1, 2, 3]);
  const counts = await Promise.all(
    Array.from({ length: 20 }, async (_, order) => (await letOn(new Gates(order + 1, true))).length),
  );
  expect(new Set(counts)).toEqual(new Set([1, 3]));
});

test('where nobody waits nobody is let on', () => {
  expect(new Gates(0, true).release()).toBe(false);
});
