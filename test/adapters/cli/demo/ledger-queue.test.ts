import { expect, test } from 'vitest';
import type { LedgerEntry } from '../../../../adapters/cli/demo/ledger.ts';
import { LedgerQueue } from '../../../../adapters/cli/demo/ledger-queue.ts';

function entry(kind: 'refundRequested' | 'refundBooked' | 'customerTold' | 'answerLost'): LedgerEntry {
  return { kind, at: '', key: 'k', orderId: '1', cents: 1, refundId: 'R', text: '' } as LedgerEntry;
}

test('what a tool did is told after its start, whatever arrives first, and nothing overtakes', () => {
  const told: [kind: string, arrivedAt: number][] = [];
  const queue = new LedgerQueue(({ kind }, arrivedAt) => told.push([kind, arrivedAt]));
  queue.add(entry('refundRequested'), 1);
  queue.add(entry('refundBooked'), 2);
  expect(told).toEqual([]);
  queue.started({ started: ['lookUpOrder'] });
  expect(told).toEqual([]);
  queue.started({ started: ['refund'] });
  expect(told).toEqual([
    ['refundRequested', 1],
    ['refundBooked', 2],
  ]);
  queue.add(entry('answerLost'), 3);
  queue.add(entry('refundRequested'), 4);
  expect(told.at(-1)).toEqual(['answerLost', 3]);
  queue.started({ started: ['refund'] });
  expect(told.at(-1)).toEqual(['refundRequested', 4]);
});
