import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatSucceededWasBooked } from '../worlds/what-succeeded-was-booked.ts';

/**
 * Reached by the same call in sessions of two tenants: the second one is answered with the refund of the first.
 */
export const keyWithoutTheTenant: ToolsEntry<Bank> = {
  name: 'key-without-the-tenant',
  title: 'It dedupes by order and amount, and forgets that each tenant counts its orders from 1.',
  mistake: 'a key without the tenant',
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
          const { refundId } = bank.bookOnce(`refund-${refund.orderId}-${refund.cents}`, refund, context);
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
