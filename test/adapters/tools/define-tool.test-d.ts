import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../adapters/tools/define-tool.ts';
import { cannotTell, done, notDone } from '../../../adapters/tools/reconciliation.ts';
import type { Tool } from '../../../adapters/tools/tool.contract.ts';

test('a schema of Zod is taken, and the tool gets its output', () => {
  const tool = defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    inputSchema: z.object({ orderId: z.string(), cents: z.number().default(0) }),
    execute: (params) => expectTypeOf(params).toEqualTypeOf<{ orderId: string; cents: number }>(),
  });
  expectTypeOf(tool).toEqualTypeOf<Tool>();
});

test('what is no schema is refused', () => {
  // @ts-expect-error a plain object describes nothing
  defineTool({ name: 'refund', description: 'Refunds an order.', inputSchema: {}, execute: () => null });
});

const common = { name: 'refund', description: 'Refunds an order.', inputSchema: z.object({ orderId: z.string() }) };
const outputSchema = z.object({ refundId: z.string(), cents: z.number().default(0) });

test('what execute returns and what reconcile found is what the output schema takes', () => {
  defineTool({ ...common, outputSchema, execute: () => ({ refundId: 'r1' }) });
  // @ts-expect-error another form
  defineTool({ ...common, outputSchema, execute: () => ({ refundId: 7 }) });
  defineTool({
    ...common,
    outputSchema,
    effect: 'reconcilable',
    execute: async () => ({ refundId: 'r1' }),
    reconcile: async ({ orderId }) => {
      if (orderId === '') return cannotTell('no order');
      return orderId === '1' ? notDone() : done({ refundId: orderId });
    },
  });
  defineTool({
    ...common,
    outputSchema,
    effect: 'reconcilable',
    execute: async () => ({ refundId: 'r1' }),
    // @ts-expect-error another form
    reconcile: async () => done({ refundId: 7 }),
  });
});

test('reconcile goes with its class', () => {
  // @ts-expect-error reconcile is missing
  defineTool({ ...common, effect: 'reconcilable', execute: () => null });
  // @ts-expect-error reconcile of another class
  defineTool({ ...common, effect: 'idempotent', execute: () => null, reconcile: () => notDone() });
});

test('a transactional tool has the transaction, no other one', () => {
  defineTool({
    ...common,
    effect: 'transactional',
    execute: async ({ orderId }, { transaction, em }) => {
      const { rows } = await transaction.query<{ n: number }>('SELECT 1 AS n', [orderId]);
      expectTypeOf(rows).toEqualTypeOf<{ n: number }[]>();
      expectTypeOf(em.isInTransaction()).toEqualTypeOf<boolean>();
    },
  });
  // @ts-expect-error no transaction
  defineTool({ ...common, effect: 'idempotent', execute: (_params, { transaction }) => transaction });
});
