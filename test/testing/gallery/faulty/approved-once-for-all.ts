import fc from 'fast-check';
import { allow, defineTool, requireApproval } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { refundInput } from '../worlds/refund-input.ts';

/** Cents of a single refund that nobody has to approve. */
const SMALL_CENTS = 100;

/**
 * Reached by a call of 150 that is approved, and another one for the same order, in a later answer of the model or in any session of the tenant.
 */
export const approvedOnceForAll: ToolsEntry<Bank> = {
  name: 'approved-once-for-all',
  title: 'Large refunds want an approval, and an order that has got one is taken for approved from then on.',
  mistake: 'an approval that counts for later calls',
  kind: 'tools',
  check: {
    world: () => new Bank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'idempotent',
        policy: ({ orderId, cents }, { tenantId }) => {
          const isApproved = bank.bookings.some(
            (known) => known.tenantId === tenantId && known.orderId === orderId && known.cents > SMALL_CENTS,
          );
          return cents <= SMALL_CENTS || isApproved ? allow() : requireApproval();
        },
        execute: async (refund, context) => {
          await worker.at('before the bank');
          const { refundId } = bank.bookOnce(context.idempotencyKey, refund, context);
          await worker.at('after the bank');
          return { refundId };
        },
      }),
    ],
    calls: { refund: fc.record({ orderId: fc.constantFrom('1', '2'), cents: fc.constantFrom(20, 150) }) },
    invariants: {
      'each refund of more than 100 was approved': ({ world, executions }) => {
        const approved = executions.filter(({ approvedBy }) => approvedBy !== null).map((call) => call.executionId);
        const large = world.bookings.filter(({ cents }) => cents > SMALL_CENTS);
        const other = large.find(({ executionId }) => !approved.includes(executionId));
        return other === undefined || `nobody approved ${other.cents} for order ${other.orderId}`;
      },
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
