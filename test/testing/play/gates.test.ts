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

/** How many of three are let on by the first release. */
async function firstRelease(gates: Gates): Promise<number> {
  let passed = 0;
  for (let one = 0; one < 3; one += 1) {
    void gates.pass().then(() => {
      passed += 1;
    });
  }
  expect(gates.release()).toBe(true);
  await new Promise<void>((resolve) => setImmediate(resolve));
  return passed;
}

test('where transactions overlap all are let on at once, or one step at a time in the order of a seed', async () => {
  const [all, one] = [new Gates(0, true), new Gates(7, true)];
  expect([all.stepwise, one.stepwise, new Gates(7).stepwise]).toEqual([false, true, false]);
  expect(await firstRelease(all)).toBe(3);
  expect(await firstRelease(one)).toBe(1);
});

test('once they are open nobody waits any more', async () => {
  const gates = new Gates(7, true);
  let passed = 0;
  const waiting = gates.pass().then(() => {
    passed += 1;
  });
  gates.open();
  await Promise.all([waiting, gates.pass()]);
  expect({ passed, stepwise: gates.stepwise }).toEqual({ passed: 1, stepwise: false });
});

test('who is slow goes on last, and not with the others', async () => {
  const gates = new Gates(0, true);
  const passed: string[] = [];
  const slow = gates.passSlowly().then(() => passed.push('slow'));
  const other = gates.pass().then(() => passed.push('other'));
  expect(gates.release()).toBe(true);
  await other;
  expect(gates.release()).toBe(false);
  expect(passed).toEqual(['other']);
  expect(gates.releaseSlow()).toBe(true);
  await slow;
  expect(passed).toEqual(['other', 'slow']);
  expect(gates.releaseSlow()).toBe(false);
});
