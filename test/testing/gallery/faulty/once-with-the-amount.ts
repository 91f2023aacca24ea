import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { noOrderIsRefundedTwice } from '../worlds/no-order-is-refunded-twice.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

/**
 * Reached by two calls for one order with two amounts, in one answer or in two.
 */
export const onceWithTheAmount: ToolsEntry<Bank> = {
  name: 'once-with-the-amount',
  title: 'One refund per order is wanted, and the business key holds the amount too.',
  mistake: 'a business key that is not the act',
  kind: 'tools',
  check: {
    world: () => new Bank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'idempotent',
        once: { per: 'tenant', key: ({ orderId, cents }) => `${orderId}-${cents}` },
        execute: async (refund, context) => {
          await worker.at('before the bank');
          const { refundId } = bank.bookOnce(context.idempotencyKey, refund, context);
          await worker.at('after the bank');
          return { refundId };
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
