import fc from 'fast-check';
import { z } from 'zod';
import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { allAreRefunded, openOrders } from '../worlds/all-orders.ts';
import { Bank } from '../worlds/bank.ts';

/**
 * Right, since an order that the list has no more is refunded, and of one that two attempts have the bank knows the key. That two calls at a
 * time may each refund an order is not excluded here.
 */
export const keyOfEachOrder: ToolsEntry<Bank> = {
  name: 'key-of-each-order',
  title: 'Every attempt makes its own list of open orders, and each refund has the key of the call and the order.',
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
          for (const orderId of openOrders(bank, context.tenantId)) {
            await worker.at('before an order');
            bank.bookOnce(`${context.idempotencyKey}-${orderId}`, { orderId, cents }, context);
            await worker.at('after an order');
          }
          return { refunded: 'all' };
        },
      }),
    ],
    calls: { refund_all: fc.record({ cents: fc.constantFrom(20, 30) }) },
    invariants: {
      'where all was refunded, no order is open': allAreRefunded,
      'no call refunds an order twice': ({ world }) => {
        const refunds = world.bookings.map(({ executionId, orderId }) => `${executionId}/${orderId}`);
        return new Set(refunds).size === refunds.length;
      },
    },
  },
};
