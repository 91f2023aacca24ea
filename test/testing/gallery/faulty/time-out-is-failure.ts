import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatFailedWasNotBooked } from '../worlds/what-failed-was-not-booked.ts';

/**
 * Reached by a call and a time-out after the bank: a plain error says that nothing was done.
 */
export const timeOutIsFailure: ToolsEntry<Bank> = {
  name: 'time-out-is-failure',
  title: 'It catches the time-out of its own request and says that the refund failed.',
  mistake: 'a lost answer taken for a failure',
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
          try {
            await worker.at('before the bank');
            const { refundId } = bank.book(refund, context);
            await worker.at('after the bank');
            return { refundId };
          } catch (cause) {
            throw new Error('the bank did not answer, so nothing was refunded', { cause });
          }
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
