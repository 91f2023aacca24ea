import fc from 'fast-check';
import { allow, defineTool, requireApproval } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { LIMIT_CENTS, littleIsRefundedUnapproved } from '../worlds/little-is-refunded-unapproved.ts';
import { refundInput } from '../worlds/refund-input.ts';

/**
 * Reached by two calls for one order in one answer, 60 and 90, which are both judged before either is booked.
 */
export const sumWithoutAReservation: ToolsEntry<Bank> = {
  name: 'sum-without-a-reservation',
  title:
    'The policy adds a call to what the order has got so far, and two calls that are judged side by side do not see each other.',
  mistake: 'check, then act',
  kind: 'tools',
  check: {
    world: () => new Bank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'idempotent',
        policy: ({ orderId, cents }, { tenantId }) => {
          const ofOrder = bank.bookings.filter(
            (booking) => booking.tenantId === tenantId && booking.orderId === orderId,
          );
          const total = ofOrder.reduce((sum, booking) => sum + booking.cents, cents);
          return total > LIMIT_CENTS ? requireApproval() : allow();
        },
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
