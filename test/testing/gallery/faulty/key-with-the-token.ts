import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { eachCallIsBookedOnce } from '../worlds/each-call-is-booked-once.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

/**
 * Reached by a call and a crash after the bank; not by a time-out, after which the same process goes on with the same token.
 */
export const keyWithTheToken: ToolsEntry<Bank> = {
  name: 'key-with-the-token',
  title: 'The key that the bank gets holds the fencing token, which rises when another process takes over.',
  mistake: 'a key that changes between attempts',
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
          const { refundId } = bank.bookOnce(`${context.executionId}:${context.fencingToken}`, refund, context);
          await worker.at('after the bank');
          return { refundId };
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
