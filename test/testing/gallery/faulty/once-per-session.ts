import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { noOrderIsRefundedTwice } from '../worlds/no-order-is-refunded-twice.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

/**
 * Reached by a call for the same order in two sessions of one tenant, whoever their users are.
 */
export const oncePerSession: ToolsEntry<Bank> = {
  name: 'once-per-session',
  title: 'One refund per order is wanted, and the business key counts within the session alone.',
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
        once: { per: 'session', key: ({ orderId }) => orderId },
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
