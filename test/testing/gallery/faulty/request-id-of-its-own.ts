import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { eachCallIsBookedOnce } from '../worlds/each-call-is-booked-once.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

/**
 * Reached by a call and a crash or a time-out after the bank. The id stands for any random one; it counts, so that a run can be replayed.
 */
export const requestIdOfItsOwn: ToolsEntry<Bank> = {
  name: 'request-id-of-its-own',
  title: 'It makes the id of its request itself, anew for each attempt, and the bank dedupes by that.',
  mistake: 'a key that changes between attempts',
  kind: 'tools',
  check: {
    world: () => new Bank(),
    tools: (bank, worker) => {
      let requests = 0;
      return [
        defineTool({
          name: 'refund',
          description: 'Pays an order back.',
          inputSchema: refundInput,
          effect: 'idempotent',
          execute: async (refund, context) => {
            await worker.at('before the bank');
            requests += 1;
            const { refundId } = bank.bookOnce(`${worker.number}-${requests}`, refund, context);
            await worker.at('after the bank');
            return { refundId };
          },
        }),
      ];
    },
    calls: { refund: refundCalls },
    invariants: {
      'each call is booked at most once': eachCallIsBookedOnce,
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
