import { defineTool, ToolError } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { eachCallIsBookedOnce } from '../worlds/each-call-is-booked-once.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatFailedWasNotBooked } from '../worlds/what-failed-was-not-booked.ts';
import { whatSucceededWasBooked } from '../worlds/what-succeeded-was-booked.ts';

/**
 * Right, since what the person says cannot be overtaken by a process that was only slow, and a call that is sent again by mistake books
 * nothing.
 */
export const closedByAPerson: ToolsEntry<Bank> = {
  name: 'closed-by-a-person',
  title:
    'Whoever settles a call has the bank take nothing more of it and then looks, and a second request of it is refused.',
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
          await worker.at('after the bank').catch((cause: unknown) => {
            throw new ToolError('the answer of the bank was lost', { outcome: 'unknown', cause });
          });
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
