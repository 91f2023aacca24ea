import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatSucceededWasBooked } from '../worlds/what-succeeded-was-booked.ts';

/**
 * Reached by a call and a time-out before the bank; or by a stall there, and a crash after the success was recorded.
 */
export const notAwaited: ToolsEntry<Bank> = {
  name: 'not-awaited',
  title: 'It answers that the refund is accepted while its request is still under way, and nobody waits for that.',
  mistake: 'success before the act',
  kind: 'tools',
  check: {
    world: () => new Bank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'idempotent',
        execute: (refund, context) => {
          worker
            .at('before the bank')
            .then(() => bank.bookOnce(context.idempotencyKey, refund, context))
            .catch(() => undefined); // stands for a line in a log
          return { accepted: true };
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
