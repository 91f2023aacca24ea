import fc from 'fast-check';
import { allow, defineTool, type PolicyContext, requireApproval } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank, type Refund } from '../worlds/bank.ts';
import { eachCallIsBookedOnce } from '../worlds/each-call-is-booked-once.ts';
import { LIMIT_CENTS, littleIsRefundedUnapproved } from '../worlds/little-is-refunded-unapproved.ts';
import { refundInput } from '../worlds/refund-input.ts';

/** A bank that keeps, by order and call, what may be refunded without an approval. */
class ReservingBank extends Bank {
  readonly #reserved = new Map<string, Map<string, number>>();

  /** Whether the call may be made without an approval, which it may from then on. */
  reserves({ orderId, cents }: Refund, { tenantId, executionId }: PolicyContext): boolean {
    const order = `${tenantId}/${orderId}`;
    const calls = this.#reserved.get(order) ?? new Map<string, number>();
    const others = [...calls].filter(([call]) => call !== executionId).reduce((sum, [, one]) => sum + one, 0);
    if (others + cents > LIMIT_CENTS) return false;
    this.#reserved.set(order, calls.set(executionId, cents));
    return true;
  }
}

/**
 * Right also for calls that are judged side by side: what is reserved for a call counts for all later ones, and a call that is judged
 * again has its own already. Where a call is never made its reservation stays, which only asks for an approval too many.
 */
export const approvalOfTheSum: ToolsEntry<ReservingBank> = {
  name: 'approval-of-the-sum',
  title:
    'The policy reserves the amount of a call at the bank, in one step with the look at what the order has got so far.',
  kind: 'tools',
  check: {
    world: () => new ReservingBank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'idempotent',
        policy: (refund, context) => (bank.reserves(refund, context) ? allow() : requireApproval()),
        execute: async (refund, context) => {
          await worker.at('before the bank');
          const { refundId } = bank.bookOnce(context.idempotencyKey, refund, context);
          await worker.at('after the bank');
          return { refundId };
        },
      }),
    ],
    calls: { refund: fc.record({ orderId: fc.constantFrom('1', '2'), cents: fc.constantFrom(60, 90, 150) }) },
    invariants: {
      'no order gets more than 100 cents that nobody approved': littleIsRefundedUnapproved,
      'each call is booked at most once': eachCallIsBookedOnce,
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
