import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { LockedBank, orderOf } from '../worlds/locked-bank.ts';
import { noOrderIsRefundedTwice } from '../worlds/no-order-is-refunded-twice.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatFailedWasNotBooked } from '../worlds/what-failed-was-not-booked.ts';
import { whatSucceededWasBooked } from '../worlds/what-succeeded-was-booked.ts';

/**
 * Right, since whoever comes late has a lower number than the one who looked last, and is refused. That the lock ends before its holder only
 * lets another one in.
 */
export const lockWithANumber: ToolsEntry<LockedBank> = {
  name: 'lock-with-a-number',
  title: 'It looks and refunds under a lock that ends after half a minute, and the bank takes the last lock alone.',
  kind: 'tools',
  check: {
    world: () => new LockedBank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'nonRepeatable',
        execute: async (refund, context) => {
          const order = orderOf(refund, context);
          const lock = bank.lock(order, worker.now());
          try {
            if (bank.isRefunded(order)) throw new Error('the order is refunded already');
            await worker.at('between the look and the refund');
            const { refundId } = bank.bookUnder(lock, refund, context);
            await worker.at('after the refund');
            return { refundId };
          } finally {
            bank.unlock(order, lock);
          }
        },
      }),
    ],
    calls: { refund: refundCalls },
    invariants: {
      'no order is refunded twice': noOrderIsRefundedTwice,
      'what is recorded as succeeded was booked': whatSucceededWasBooked,
      'what is recorded as failed was not booked': whatFailedWasNotBooked,
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
