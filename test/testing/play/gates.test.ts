import { expect, test } from 'vitest';
import { Gates } from '../../../testing/play/gates.ts';

/** The order in which six are let on. */
async function orderOf(order: number): Promise<number[]> {
  const gates = new Gates(order);
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

test('who waits in a tool may be made to stay there', async () => {
  const gates = new Gates(0);
  const passed: string[] = [];
  const all = [
    gates.pass().then(() => passed.push('in a tool')),
    gates.pass({ isInTool: false }).then(() => passed.push('elsewhere')),
  ];
  expect(gates.release({ staysInTools: true })).toBe(true);
  expect(gates.release({ staysInTools: true })).toBe(false);
  await all[1];
  expect(passed).toEqual(['elsewhere']);
  expect(gates.release()).toBe(true);
  await all[0];
  expect(passed).toEqual(['elsewhere', 'in a tool']);
});

test('one is let on at a time, and none where nobody waits', async () => {
  const gates = new Gates(0);
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

test('where they go together all are let on at once, and with a seed also one alone', async () => {
  const firstRelease = async (order: number): Promise<number> => {
    const gates = new Gates(order, true);
    let passed = 0;
    for (let one = 0; one < 3; one += 1) {
      void gates.pass().then(() => {
        passed += 1;
      });
    }
    expect(gates.release()).toBe(true);
    await new Promise<void>((resolve) => setImmediate(resolve));
    return passed;
  };
  expect(await firstRelease(0)).toBe(3);
  const counts = await Promise.all(Array.from({ length: 20 }, (_, place) => firstRelease(place + 1)));
  expect(new Set(counts)).toEqual(new Set([1, 3]));
});
