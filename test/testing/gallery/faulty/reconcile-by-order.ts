import { defineTool, done, notDone } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatSucceededWasBooked } from '../worlds/what-succeeded-was-booked.ts';

/**
 * Reached by two calls for one order with two amounts, and a crash before the bank in the later one: it is answered with the refund of
 * the other.
 */
export const reconcileByOrder: ToolsEntry<Bank> = {
  name: 'reconcile-by-order',
  title: 'Its reconcile looks for any refund of the order in place of the one of its call.',
  mistake: 'a reconcile that finds the act of another call',
  kind: 'tools',
  check: {
    world: () => new Bank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'reconcilable',
        execute: async (refund, context) => {
          await worker.at('before the bank');
          context.signal.throwIfAborted();
          const { refundId } = bank.book(refund, context);
          await worker.at('after the bank');
          return { refundId };
        },
        reconcile: ({ orderId }, context) => {
          bank.look(context); // nothing is booked for the lost attempt any more
          const booked = bank.bookings.find(
            (booking) => booking.tenantId === context.tenantId && booking.orderId === orderId,
          );
          return booked === undefined ? notDone() : done({ refundId: booked.refundId });
        },
      }),
    ],
    calls: { refund: refundCalls },
    invariants: {
      'what is recorded as succeeded was booked': whatSucceededWasBooked,
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
