import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { noOrderIsRefundedTwice } from '../worlds/no-order-is-refunded-twice.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatFailedWasNotBooked } from '../worlds/what-failed-was-not-booked.ts';

/**
 * Right, since the key is free only where it is known that nothing happened: a time-out is told as unknown, and a person closes the call
 * at the bank first.
 */
export const oncePerOrder: ToolsEntry<Bank> = {
  name: 'once-per-order',
  title: 'The business key is the order within the tenant, and the bank books once for each call.',
  kind: 'tools',
  check: {
    world: () => new Bank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'idempotent',
        once: { per: 'tenant', key: ({ orderId }) => orderId },
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
      'what is recorded as failed was not booked': whatFailedWasNotBooked,
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
