import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { noOrderIsRefundedTwice } from '../worlds/no-order-is-refunded-twice.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

/**
 * Reached by two calls for one order, in one answer or in two sessions, the first of which is stalled between its look and its act.
 */
export const checkThenAct: ToolsEntry<Bank> = {
  name: 'check-then-act',
  title: 'It looks whether the order is refunded, waits for something, and refunds: two calls look before either acts.',
  mistake: 'check, then act',
  kind: 'tools',
  check: {
    world: () => new Bank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'nonRepeatable',
        execute: async (refund, context) => {
          const known = bank.bookings.some(
            ({ tenantId, orderId }) => tenantId === context.tenantId && orderId === refund.orderId,
          );
          if (known) throw new Error('the order is refunded already');
          await worker.at('between the look and the refund');
          return { refundId: bank.book(refund, context).refundId };
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
