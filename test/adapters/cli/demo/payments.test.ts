import { existsSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entriesOfOrder, type LedgerEntry, ofKind, readLedger } from '../../../../adapters/cli/demo/ledger.ts';
import { Payments } from '../../../../adapters/cli/demo/payments.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

async function open(): Promise<{ payments: Payments; file: string; told: LedgerEntry[] }> {
  const file = join(await temporaryFolder('turnlock-test-payments-'), 'ledger.jsonl');
  const told: LedgerEntry[] = [];
  return { payments: new Payments(file, (entry) => told.push(entry)), file, told };
}

test('a key books once; every request stands in the file before anybody is told', async () => {
  const { payments, file, told } = await open();
  const request = { key: 'k1', orderId: '42', cents: 4_900 };
  expect(payments.refund(request)).toEqual({ refundId: 'R-1001', isNew: true });
  expect(payments.refund(request)).toEqual({ refundId: 'R-1001', isNew: false });
  expect(payments.refund({ ...request, key: 'k2' })).toEqual({ refundId: 'R-1002', isNew: true });
  const ledger = await readLedger(file);
  expect(ledger).toEqual(told);
  expect(ledger.map(({ kind, key }) => [kind, key])).toEqual([
    ['refundRequested', 'k1'],
    ['refundBooked', 'k1'],
    ['refundRequested', 'k1'],
    ['refundRepeated', 'k1'],
    ['refundRequested', 'k2'],
    ['refundBooked', 'k2'],
  ]);
});

test('no file is made before something is written', async () => {
  const { payments, file } = await open();
  expect(payments.order('42').item).toBe('a teapot');
  expect(existsSync(file)).toBe(false);
  expect(await readLedger(file)).toEqual([]);
});

test('a customer is told once for each key, and an order has its own entries', async () => {
  const { payments, file } = await open();
  const message = { key: 'm', orderId: '7', text: 'sent' };
  payments.tellCustomer(message);
  payments.tellCustomer(message);
  payments.refund({ key: 'k', orderId: '8', cents: 1 });
  payments.answerLost('k');
  const ledger = await readLedger(file);
  expect(ofKind(ledger, 'customerTold')).toHaveLength(1);
  expect(entriesOfOrder(ledger, '8').map(({ kind }) => kind)).toEqual([
    'refundRequested',
    'refundBooked',
    'answerLost',
  ]);
});

test('with the ledger of an earlier one it knows its keys, and a line that was not finished is cut off', async () => {
  const { payments, file } = await open();
  payments.refund({ key: 'k1', orderId: '42', cents: 1 });
  await appendFile(file, '{"kind":"refundBooked","key":"k2"');
  const next = new Payments(file, () => undefined);
  expect(next.refund({ key: 'k1', orderId: '42', cents: 1 })).toEqual({ refundId: 'R-1001', isNew: false });
  expect(next.refund({ key: 'k2', orderId: '42', cents: 1 })).toEqual({ refundId: 'R-1002', isNew: true });
  expect(ofKind(await readLedger(file), 'refundBooked')).toHaveLength(2);
});
