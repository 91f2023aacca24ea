import { defineTool, done, notDone } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { eachCallIsBookedOnce } from '../worlds/each-call-is-booked-once.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatFailedWasNotBooked } from '../worlds/what-failed-was-not-booked.ts';
import { whatSucceededWasBooked } from '../worlds/what-succeeded-was-booked.ts';

/**
 * Right, since the look and the fence are one step: after a “not done” the lost attempt cannot book any more, neither in another process
 * (its token is lower) nor in the same one (its signal has aborted).
 */
export const reconciledByReference: ToolsEntry<Bank> = {
  name: 'reconciled-by-reference',
  title: 'The bank refuses a reference that it has booked, and to be asked about one shuts out whoever had it before.',
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
          const { refundId } = bank.bookStrictly(refund, context);
          await worker.at('after the bank');
          return { refundId };
        },
        reconcile: (_, context) => {
          const booked = bank.look(context);
          return booked === undefined ? notDone() : done({ refundId: booked.refundId });
        },
      }),
    ],
    calls: { refund: refundCalls },
    invariants: {
      'each call is booked at most once': eachCallIsBookedOnce,
      'what is recorded as succeeded was booked': whatSucceededWasBooked,
      'what is recorded as failed was not booked': whatFailedWasNotBooked,
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
