import { expect, test } from 'vitest';
import { Gates } from '../../../testing/play/gates.ts';

/** The order in which six are let on. */
async function orderOf(order: number): Promise<number[]> {
  const gates = new Gates(order, false);
  const passed: number[] = [];
  const all = Array.from({ length: 6 }, (_, place) => gates.pass().then(() => passed.push(place)));
  while (gates.release()) await Promise.resolve();
  await Promise.all(all);
  return passed;
}

test('without a seed everybody is let on in the order of arrival', async () => {
  expect(await orderOf(0)).toEqual([0, 1, 2, 3, 4, 5]);
});

test('a seed gives one order, each of them once; others give others', async () => {
  const orders = await Promise.all([1, 2, 3, 4, 5].map(orderOf));
  expect(await orderOf(3)).toEqual(orders[2]);
  for (const order of orders) expect(order.toSorted()).toEqual([0, 1, 2, 3, 4, 5]);
  expect(new Set(orders.map(String)).size).toBeGreaterThan(2);
});

test('one is let on at a time, and none where nobody waits', async () => {
  const gates = new Gates(0, false);
  expect(gates.release()).toBe(false);
  const passed: string[] = [];
  const first = gates.pass().then(() => passed.push('first'));
  const second = gates.pass().then(() => passed.push('second'));
  expect(gates.release()).toBe(true);
  await first;
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(passed).toEqual(['first']);
  expect(gates.release()).toBe(true);
  await second;
  expect(gates.release()).toBe(false);
});

/** Who is let on by the first release, of three that wait, where they may overlap. */
async function letOn(order: number): Promise<number[]> {
  const gates = new Gates(order, true);
  const on: number[] = [];
  for (const one of [1, 2, 3]) void gates.pass().then(() => on.push(one));
  expect(gates.release()).toBe(true);
  await new Promise<void>((resolve) => setImmediate(resolve));
  return on;
}

test('all are let on at once where they may overlap, and with an order also one alone', async () => {
  expect(await letOn(0)).toEqual([1, 2, 3]);
  const counts = await Promise.all(Array.from({ length: 20 }, async (_, order) => (await letOn(order + 1)).length));
  expect(new Set(counts)).toEqual(new Set([1, 3]));
});
