import { defineTool, done, notDone, type ToolContext } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank, type Booking } from '../worlds/bank.ts';
import { eachCallIsBookedOnce } from '../worlds/each-call-is-booked-once.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

/** A bank whose replica shows a booking once the next one has come. */
class ReplicatedBank extends Bank {
  lookAtReplica(context: ToolContext): Booking | undefined {
    const booked = this.look(context);
    return booked === this.bookings.at(-1) ? undefined : booked;
  }
}

/**
 * Reached by a call and a crash after the bank. The replica is one booking behind, whatever the clock says.
 */
export const reconcileOnAReplica: ToolsEntry<ReplicatedBank> = {
  name: 'reconcile-on-a-replica',
  title: 'Its reconcile reads a replica that lags behind, and takes what is not there yet for not done.',
  mistake: 'a reconcile that cannot know yet',
  kind: 'tools',
  check: {
    world: () => new ReplicatedBank(),
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
        reconcile: (_, context) => {
          const booked = bank.lookAtReplica(context);
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
