import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { eachCallIsBookedOnce } from '../worlds/each-call-is-booked-once.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatFailedWasNotBooked } from '../worlds/what-failed-was-not-booked.ts';
import { whatSucceededWasBooked } from '../worlds/what-succeeded-was-booked.ts';

/**
 * Right, since the bank compares and books in one step, by a key that all attempts of a call share and no other call has.
 */
export const idempotentByKey: ToolsEntry<Bank> = {
  name: 'idempotent-by-key',
  title:
    'The bank books once for each key and answers a repeat with the booking of then, so whoever repeats does no harm.',
  kind: 'tools',
  check: {
    world: () => new Bank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'idempotent',
        execute: async (refund, context) => {
          await worker.at('before the bank');
          const { refundId } = bank.bookOnce(context.idempotencyKey, refund, context);
          await worker.at('after the bank');
          return { refundId };
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
