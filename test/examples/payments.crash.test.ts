import { appendFileSync } from 'node:fs';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { askRefund, askRefunds } from '../support/world/ask-payments.ts';
import { paymentsWorld } from '../support/world/payments-world.ts';
import type { PaymentsService } from '../support/world/start-payments.ts';

let world: PaymentsService;
let orders = 0;
let orderId = '';

beforeAll(async () => {
  world = await paymentsWorld();
});
beforeEach(async () => {
  await world.behave({});
  orders += 1;
  orderId = String(orders);
});

/** The types of the entries of one order. */
const typesOf = (order: string) => world.entriesOf(order).map(({ type }) => type);

test('a key books once where keys are honoured, and as often as it is asked where not; without a key nothing is known', async () => {
  const key = 'once';
  const first = await askRefund(world.url, { orderId, key });
  expect(first).toMatchObject({ status: 200, body: { orderId, cents: 4_900, key } });
  expect(await askRefund(world.url, { orderId, key })).toEqual(first);
  expect(await askRefund(world.url, { orderId, key, cents: 1 })).toMatchObject({ status: 422 });
  expect(typesOf(orderId)).toEqual(['asked', 'booked', 'asked', 'repeated', 'asked', 'refused']);
  await world.behave({ honoursKeys: false });
  await askRefund(world.url, { orderId, key });
  await askRefund(world.url, { orderId });
  await askRefund(world.url, { orderId });
  expect(world.booked(orderId).map((refund) => refund.key)).toEqual([key, key, null, null]);
});

test('it says what it booked for an order or a key, and does not where it is told not to', async () => {
  const idsOf = async (query: string) => {
    const { body } = await askRefunds(world.url, query);
    return (body as { refunds: { refundId: string }[] }).refunds.map(({ refundId }) => refundId);
  };
  await askRefund(world.url, { orderId, key: 'told' });
  await askRefund(world.url, { orderId });
  const [first = '', second = ''] = world.booked(orderId).map(({ refundId }) => refundId);
  expect(await idsOf('')).toEqual(expect.arrayContaining([first, second]));
  expect(await idsOf(`orderId=${orderId}`)).toEqual([first, second]);
  expect(await idsOf('key=told')).toEqual([first]);
  expect(await idsOf('key=untold')).toEqual([]);
  await world.behave({ tellsRefunds: false });
  expect(await askRefunds(world.url)).toMatchObject({ status: 403 });
});

test('a lower fencing token of the same scope is refused where tokens are asked for', async () => {
  const refund = (token: number, scope: string) => askRefund(world.url, { orderId, token, scope });
  await refund(7, 'a');
  expect(await refund(6, 'a')).toMatchObject({ status: 200 });
  await world.behave({ checksTokens: true });
  expect(await refund(6, 'a')).toMatchObject({ status: 409, body: { refused: 'staleToken' } });
  expect(await refund(7, 'a')).toMatchObject({ status: 200 });
  expect(await refund(1, 'b')).toMatchObject({ status: 200 });
  expect(world.booked(orderId)).toHaveLength(4);
});

test.each([
  { fault: 'failBefore', status: 503, booked: 0 },
  { fault: 'failAfter', status: 503, booked: 1 },
  { fault: 'loseBefore', status: null, booked: 0 },
  { fault: 'loseAfter', status: null, booked: 1 },
] as const)('$fault: booked $booked times and answered with $status; the next one is good', async (row) => {
  await world.behave({ fault: row.fault, times: 1 });
  const { status } = await askRefund(world.url, { orderId }).catch(() => ({ status: null }));
  expect({ status, booked: world.booked(orderId).length }).toEqual({ status: row.status, booked: row.booked });
  expect(await askRefund(world.url, { orderId })).toMatchObject({ status: 200 });
});

test('what hangs before it is booked is booked when it is let go, though whoever asked is gone', async () => {
  const gone = new AbortController();
  const asked = askRefund(world.url, { orderId, behaviour: { fault: 'hangBefore' }, signal: gone.signal });
  const isLost = expect(asked).rejects.toThrow('aborted');
  await world.first('asked', orderId);
  gone.abort();
  await isLost;
  await world.first('answerLost', orderId);
  expect(world.booked(orderId)).toEqual([]);
  await world.release();
  await world.first('booked', orderId);
  expect(await askRefund(world.url, { orderId })).toMatchObject({ status: 200 });
});

test.each([
  { waits: 'beforeMs', types: ['asked', 'answerLost'] },
  { waits: 'afterMs', types: ['asked', 'booked', 'answerLost'] },
])('a slow one waits, with $waits', async ({ waits, types }) => {
  const gone = new AbortController();
  const asked = askRefund(world.url, { orderId, behaviour: { [waits]: 3_600_000 }, signal: gone.signal });
  const isLost = expect(asked).rejects.toThrow('aborted');
  await world.first(waits === 'beforeMs' ? 'asked' : 'booked', orderId);
  gone.abort();
  await isLost;
  await world.first('answerLost', orderId);
  expect(typesOf(orderId)).toEqual(types);
});

test('killed after it booked, the next process on its ledger knows the key, at the same address', async () => {
  await world.behave({ fault: 'hangAfter' });
  const { url } = world;
  const isLost = expect(askRefund(url, { orderId, key: 'killed' })).rejects.toThrow('fetch failed');
  const { refundId } = await world.first('booked', orderId);
  await world.kill();
  await isLost;
  appendFileSync(world.ledgerFile, '{"type":"booked","key":"half"'); // a line that it did not finish
  expect(world.booked(orderId)).toHaveLength(1);
  await world.restart();
  expect(world.url).toBe(url);
  expect(await askRefund(url, { orderId, key: 'killed' })).toMatchObject({ status: 200, body: { refundId } });
  expect(typesOf(orderId)).toEqual(['asked', 'booked', 'asked', 'repeated']);
});

test('what is no behaviour, no order and no page is refused, and nothing is written', async () => {
  const before = world.ledger();
  await expect(world.behave({ fault: 'explode' as never })).rejects.toThrow('no fault is named explode');
  await expect(world.behave({ slow: 1 } as never)).rejects.toThrow('no behaviour has slow');
  expect(await askRefund(world.url, { cents: 0.5 })).toMatchObject({ status: 400 });
  expect((await fetch(`${world.url}/nothing`)).status).toBe(404);
  expect(world.ledger()).toEqual(before);
});
