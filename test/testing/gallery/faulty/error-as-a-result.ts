import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatSucceededWasBooked } from '../worlds/what-succeeded-was-booked.ts';

/**
 * Reached by a call and a lost answer before the bank: the call is recorded as succeeded, and its business key is used up for good.
 */
export const errorAsAResult: ToolsEntry<Bank> = {
  name: 'error-as-a-result',
  title: 'It returns what went wrong, so that the model can read it, and what a tool returns is a success.',
  mistake: 'a failure told as a result',
  kind: 'tools',
  check: {
    world: () => new Bank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'idempotent',
        once: { per: 'tenant', key: ({ orderId }) => orderId },
        execute: async (refund, context) => {
          try {
            await worker.at('before the bank');
            const { refundId } = bank.bookOnce(context.idempotencyKey, refund, context);
            await worker.at('after the bank');
            return { isRefunded: true, refundId };
          } catch (error) {
            return { isRefunded: false, problem: error instanceof Error ? error.message : 'something went wrong' };
          }
        },
      }),
    ],
    calls: { refund: refundCalls },
    invariants: {
      'what is recorded as succeeded was booked': whatSucceededWasBooked,
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
