import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatFailedWasNotBooked } from '../worlds/what-failed-was-not-booked.ts';

/** What a person sees on the screen of the bank. */
function lookAt(bank: Bank, idempotencyKey: string): { outcome: 'succeeded'; output: unknown } | { outcome: 'failed' } {
  const booking = bank.bookings.find((one) => one.idempotencyKey === idempotencyKey);
  if (booking === undefined) return { outcome: 'failed' };
  return { outcome: 'succeeded', output: { refundId: booking.refundId } };
}

/**
 * Reached by a call that is stalled before the bank until another process has taken over and a person has said that it did not happen.
 */
export const lookedAndNotClosed: ToolsEntry<Bank> = {
  name: 'looked-and-not-closed',
  title:
    'Whoever settles a call looks at the bank and leaves it open, and a process that was only slow books after that.',
  mistake: 'a late process is not refused',
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
          const { refundId } = bank.bookStrictly(refund, context);
          await worker.at('after the bank');
          return { refundId };
        },
      }),
    ],
    calls: { refund: refundCalls },
    invariants: {
      'what is recorded as failed was not booked': whatFailedWasNotBooked,
    },
    people: { settle: (bank, { idempotencyKey }) => lookAt(bank, idempotencyKey) },
  },
};
