import { defineTool, done, notDone } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { eachCallIsBookedOnce } from '../worlds/each-call-is-booked-once.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

/**
 * Reached by a call that is stalled before the bank until another process has asked and run it again. The look fences nothing, and the
 * bank books a reference twice.
 */
export const reconcileWithoutAFence: ToolsEntry<Bank> = {
  name: 'reconcile-without-a-fence',
  title:
    'Its reconcile looks for the right refund, and a process that was only slow books after it said that there is none.',
  mistake: 'a late process is not refused',
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
          const { refundId } = bank.book(refund, context);
          await worker.at('after the bank');
          return { refundId };
        },
        reconcile: (_, { idempotencyKey }) => {
          const booked = bank.bookings.find((booking) => booking.idempotencyKey === idempotencyKey);
          return booked === undefined ? notDone() : done({ refundId: booked.refundId });
        },
      }),
    ],
    calls: { refund: refundCalls },
    invariants: {
      'each call is booked at most once': eachCallIsBookedOnce,
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
