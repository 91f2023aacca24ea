import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { noOrderIsRefundedTwice } from '../worlds/no-order-is-refunded-twice.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

/**
 * Reached by a call and a time-out after the bank, and another call for the same order, in any session of the tenant.
 */
export const keyFreedByATimeOut: ToolsEntry<Bank> = {
  name: 'key-freed-by-a-time-out',
  title:
    'One refund per order, and a time-out that it reports as a failure frees the business key though the bank has booked.',
  mistake: 'a lost answer taken for a failure',
  kind: 'tools',
  check: {
    world: () => new Bank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'nonRepeatable',
        once: { per: 'tenant', key: ({ orderId }) => orderId },

        execute: async (refund, context) => {
          try {
            await worker.at('before the bank');
            const { refundId } = bank.book(refund, context);
            await worker.at('after the bank');
            return { refundId };
          } catch (cause) {
            throw new Error('the bank did not answer, so nothing was refunded', { cause });
          }
        },
      }),
    ],
    calls: { refund: refundCalls },
    invariants: {
      'no order is refunded twice': noOrderIsRefundedTwice,
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
