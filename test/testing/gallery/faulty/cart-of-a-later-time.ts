import fc from 'fast-check';
import { z } from 'zod';
import { defineTool, requireApproval } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Carts } from '../worlds/carts.ts';

/** Carts, and by call the sum that a person was shown. */
class ShownCarts extends Carts {
  readonly shown = new Map<string, number>();
}

/**
 * Reached by a payment that waits for a person, something that is added to the cart in another session of the tenant, and an approval; or by both
 * in one answer of the model. What was approved is the params, and the sum is none of them.
 */
export const cartOfALaterTime: ToolsEntry<ShownCarts> = {
  name: 'cart-of-a-later-time',
  title: 'A person is shown what the cart comes to, and what it comes to after the approval is paid.',
  mistake: 'an approval of what changes afterwards',
  kind: 'tools',
  check: {
    world: () => new ShownCarts(),
    tools: (carts, worker) => [
      defineTool({
        name: 'add_to_cart',
        description: 'Adds a thing to a cart.',
        inputSchema: z.object({ cart: z.string(), cents: z.int().positive() }),
        effect: 'idempotent',
        execute: ({ cart, cents }, context) => {
          carts.add(`${context.tenantId}/${cart}`, cents, context);
          return { added: cents };
        },
      }),
      defineTool({
        name: 'pay_cart',
        description: 'Pays all that is in a cart.',
        inputSchema: z.object({ cart: z.string() }),
        effect: 'idempotent',
        policy: ({ cart }, { tenantId, executionId, isStart }) => {
          const total = carts.total(`${tenantId}/${cart}`);
          if (!isStart) carts.shown.set(executionId, total);
          return requireApproval({ question: `Pay ${total} cents for cart ${cart}?` });
        },
        execute: async ({ cart }, context) => {
          await worker.at('before the payment');
          const { cents } = carts.pay(`${context.tenantId}/${cart}`, context);
          await worker.at('after the payment');
          return { paid: cents };
        },
      }),
    ],
    calls: {
      add_to_cart: fc.record({ cart: fc.constantFrom('a', 'b'), cents: fc.constant(30) }),
      pay_cart: fc.record({ cart: fc.constantFrom('a', 'b') }),
    },
    invariants: {
      'what is paid is what a person was shown': ({ world }) => {
        const other = world.payments.find(({ executionId, cents }) => world.shown.get(executionId) !== cents);
        return other === undefined || `shown ${world.shown.get(other.executionId)}, paid ${other.cents}`;
      },
    },
  },
};
