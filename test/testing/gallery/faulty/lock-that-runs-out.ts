import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { LockedBank, orderOf } from '../worlds/locked-bank.ts';
import { noOrderIsRefundedTwice } from '../worlds/no-order-is-refunded-twice.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

/**
 * Reached by a call that is stalled under the lock until the end, and a call for the same order in another session of the tenant half a
 * minute later: after a jump of the clock, or as its message is sent again to another process. Each has the lock when it looks.
 */
export const lockThatRunsOut: ToolsEntry<LockedBank> = {
  name: 'lock-that-runs-out',
  title: 'It looks and refunds under a lock, which ends after half a minute though its holder has not.',
  mistake: 'a lock that ends before its holder',
  kind: 'tools',
  check: {
    world: () => new LockedBank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'nonRepeatable',
        execute: async (refund, context) => {
          const order = orderOf(refund, context);
          const lock = bank.lock(order, worker.now());
          try {
            if (bank.isRefunded(order)) throw new Error('the order is refunded already');
            await worker.at('between the look and the refund');
            return { refundId: bank.bookStrictly(refund, context).refundId };
          } finally {
            bank.unlock(order, lock);
          }
        },
      }),
    ],
    calls: { refund: refundCalls },
    invariants: {
      'no order is refunded twice': noOrderIsRefundedTwice,
    },
  },
};
