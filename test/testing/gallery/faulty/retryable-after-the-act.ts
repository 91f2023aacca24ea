import { defineTool, ToolError } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { eachCallIsBookedOnce } from '../worlds/each-call-is-booked-once.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

/**
 * Reached by a call and a time-out after the bank: what is retryable is known to have failed, so it is tried again in spite of its class.
 */
export const retryableAfterTheAct: ToolsEntry<Bank> = {
  name: 'retryable-after-the-act',
  title: 'It says of every lost answer that nothing was done and that another attempt may help.',
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
        retry: { attempts: 3, backoff: { initialMs: 0 } },

        execute: async (refund, context) => {
          try {
            await worker.at('before the bank');
            const { refundId } = bank.book(refund, context);
            await worker.at('after the bank');
            return { refundId };
          } catch (cause) {
            throw new ToolError('the bank is busy', { retryable: true, cause });
          }
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
