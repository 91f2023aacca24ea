import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatSucceededWasBooked } from '../worlds/what-succeeded-was-booked.ts';

/**
 * Reached by one answer of the model with two calls: the second is recorded as succeeded, and nothing was booked for it.
 */
export const keyOfTheSession: ToolsEntry<Bank> = {
  name: 'key-of-the-session',
  title: 'The key that the bank gets is that of the session, so the second refund is answered with the first.',
  mistake: 'a key that two acts share',
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
          const { refundId } = bank.bookOnce(context.sessionId, refund, context);
          await worker.at('after the bank');
          return { refundId };
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
