import fc from 'fast-check';
import { z } from 'zod';
import { defineTool, requireApproval } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Carts } from '../worlds/carts.ts';

/**
 * Right, since the sum is one of the params, which are what a person approves, and the shop compares it in the step that pays. A call whose
 * sum is wrong by then has paid nothing.
 */
export const cartAsItWasShown: ToolsEntry<Carts> = {
  name: 'cart-as-it-was-shown',
  title: 'A payment names the sum that a person approves, and the shop refuses it where the cart comes to another one.',
  kind: 'tools',
  check: {
    world: () => new Carts(),
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
        name: 'pay_sum',
        description: 'Pays all that is in a cart.',
        inputSchema: z.object({ cart: z.string(), cents: z.int().positive() }),
        effect: 'idempotent',
        policy: () => requireApproval(),
        execute: async ({ cart, cents }, context) => {
          await worker.at('before the payment');
          carts.payExactly(`${context.tenantId}/${cart}`, cents, context);
          await worker.at('after the payment');
          return { paid: cents };
        },
      }),
    ],
    calls: {
      add_to_cart: fc.record({ cart: fc.constantFrom('a', 'b'), cents: fc.constant(30) }),
      pay_sum: fc.record({ cart: fc.constantFrom('a', 'b'), cents: fc.constantFrom(20, 50) }),
    },
    invariants: {
      'what is paid is what a person approved': ({ world, executions }) =>
        world.payments.every(({ executionId, cents }) => {
          const call = executions.find((one) => one.executionId === executionId);
          return call?.approvedBy != null && (call.params as { cents: number }).cents === cents;
        }),
      'what is recorded as failed was not paid': ({ world, executions }) =>
        executions
          .filter(({ status, isUnknown }) => status === 'FAILED' && !isUnknown)
          .every((call) => world.payments.every(({ executionId }) => executionId !== call.executionId)),
    },
  },
};
