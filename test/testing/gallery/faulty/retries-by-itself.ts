import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { eachCallIsBookedOnce } from '../worlds/each-call-is-booked-once.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

/**
 * Reached by a call and a time-out after the bank. What the tool declares does not matter: both requests are one attempt.
 */
export const retriesByItself: ToolsEntry<Bank> = {
  name: 'retries-by-itself',
  title: 'It sends its request once more by itself when the answer is lost, to a bank that knows no keys.',
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
          const request = async () => {
            await worker.at('before the bank');
            const { refundId } = bank.book(refund, context);
            await worker.at('after the bank');
            return { refundId };
          };
          return await request().catch(request);
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
