import fc from 'fast-check';
import { z } from 'zod';
import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { allAreRefunded, openOrders } from '../worlds/all-orders.ts';
import { Bank } from '../worlds/bank.ts';

/**
 * Reached by a call and a crash or a lost answer after its first order: the next attempt finds one open order, in the first place, and the
 * bank answers that key with the order of then.
 */
export const keyByPlaceInTheList: ToolsEntry<Bank> = {
  name: 'key-by-place-in-the-list',
  title: 'Each refund has the key of the call and its place in the list of open orders, which gets shorter.',
  mistake: 'a key of something else in the next attempt',
  kind: 'tools',
  check: {
    world: () => new Bank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund_all',
        description: 'Pays all open orders back, each with the same amount.',
        inputSchema: z.object({ cents: z.int().positive() }),
        effect: 'idempotent',
        execute: async ({ cents }, context) => {
          for (const [place, orderId] of openOrders(bank, context.tenantId).entries()) {
            bank.bookOnce(`${context.idempotencyKey}-${place}`, { orderId, cents }, context);
            await worker.at('after an order');
          }
          return { refunded: 'all' };
        },
      }),
    ],
    calls: { refund_all: fc.record({ cents: fc.constantFrom(20, 30) }) },
    invariants: {
      'where all was refunded, no order is open': allAreRefunded,
    },
  },
};
