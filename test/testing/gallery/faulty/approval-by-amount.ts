import fc from 'fast-check';
import { allow, defineTool, requireApproval } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { LIMIT_CENTS, littleIsRefundedUnapproved } from '../worlds/little-is-refunded-unapproved.ts';
import { refundInput } from '../worlds/refund-input.ts';

/**
 * Reached by two calls for one order, 60 and 90, in one answer or in two.
 */
export const approvalByAmount: ToolsEntry<Bank> = {
  name: 'approval-by-amount',
  title: 'More than 100 wants an approval, and two calls of 60 are never more than 100.',
  mistake: 'a limit that can be split',
  kind: 'tools',
  check: {
    world: () => new Bank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'idempotent',
        policy: ({ cents }) => (cents > LIMIT_CENTS ? requireApproval() : allow()),
        execute: async (refund, context) => {
          await worker.at('before the bank');
          const { refundId } = bank.bookOnce(context.idempotencyKey, refund, context);
          await worker.at('after the bank');
          return { refundId };
        },
      }),
    ],
    calls: { refund: fc.record({ orderId: fc.constantFrom('1', '2'), cents: fc.constantFrom(60, 90, 150) }) },
    invariants: {
      'no order gets more than 100 cents that nobody approved': littleIsRefundedUnapproved,
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
