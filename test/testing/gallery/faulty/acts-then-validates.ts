import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatFailedWasNotBooked } from '../worlds/what-failed-was-not-booked.ts';

/** What each order was worth. */
const ORDER_CENTS = 25;

/**
 * Reached by a call of 30: it is booked, and recorded as failed.
 */
export const actsThenValidates: ToolsEntry<Bank> = {
  name: 'acts-then-validates',
  title: 'It looks whether an order is paid back beyond its worth once it has refunded, and fails then.',
  mistake: 'a failure after the act',
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
          await worker.at('before the bank');
          const { refundId } = bank.book(refund, context);
          const ofOrder = bank.bookings.filter(
            ({ tenantId, orderId }) => tenantId === context.tenantId && orderId === refund.orderId,
          );
          const total = ofOrder.reduce((sum, { cents }) => sum + cents, 0);
          if (total > ORDER_CENTS) throw new Error('that is more than the order was worth');
          return { refundId };
        },
      }),
    ],
    calls: { refund: refundCalls },
    invariants: {
      'what is recorded as failed was not booked': whatFailedWasNotBooked,
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
