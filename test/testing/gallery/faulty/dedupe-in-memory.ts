import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { eachCallIsBookedOnce } from '../worlds/each-call-is-booked-once.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

/**
 * Reached by a call and a crash after the bank: the next process has seen nothing.
 */
export const dedupeInMemory: ToolsEntry<Bank> = {
  name: 'dedupe-in-memory',
  title: 'It remembers the keys that it has seen in the memory of its process.',
  mistake: 'state in the memory of a process',
  kind: 'tools',
  check: {
    world: () => new Bank(),
    tools: (bank, worker) => {
      const seen = new Map<string, string>();
      return [
        defineTool({
          name: 'refund',
          description: 'Pays an order back.',
          inputSchema: refundInput,
          effect: 'idempotent',
          execute: async (refund, context) => {
            const known = seen.get(context.idempotencyKey);
            if (known !== undefined) return { refundId: known };
            await worker.at('before the bank');
            const { refundId } = bank.book(refund, context);
            seen.set(context.idempotencyKey, refundId);
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
