import { defineTool, type ToolContext, ToolError } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank, type Booking, type Refund } from '../worlds/bank.ts';
import { noOrderIsRefundedTwice } from '../worlds/no-order-is-refunded-twice.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatFailedWasNotBooked } from '../worlds/what-failed-was-not-booked.ts';
import { whatSucceededWasBooked } from '../worlds/what-succeeded-was-booked.ts';

/** A bank with a unique index on tenant and order. */
class CarefulBank extends Bank {
  bookFirst(refund: Refund, context: ToolContext): Booking {
    const first = this.bookings.find(
      ({ tenantId, orderId }) => tenantId === context.tenantId && orderId === refund.orderId,
    );
    if (first !== undefined && first.idempotencyKey !== context.idempotencyKey) {
      throw new ToolError('the order is refunded already');
    }
    return this.bookOnce(context.idempotencyKey, refund, context);
  }
}

/**
 * Right, since no call can come between the look and the act, whoever is at work, and a repeat of the call that was first is answered.
 */
export const oneRefundPerOrderAtTheBank: ToolsEntry<CarefulBank> = {
  name: 'one-refund-per-order-at-the-bank',
  title: 'The bank itself takes one refund per order of a tenant, and looks and books in one step.',
  kind: 'tools',
  check: {
    world: () => new CarefulBank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'idempotent',
        execute: async (refund, context) => {
          await worker.at('before the bank');
          const { refundId } = bank.bookFirst(refund, context);
          await worker.at('after the bank');
          return { refundId };
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
