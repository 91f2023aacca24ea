import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../adapters/tools/define-tool.ts';
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
