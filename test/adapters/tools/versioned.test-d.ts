import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { defineTool, versioned } from '../../../index.ts';

const V1 = z.object({ order: z.string().transform(Number) });
const V2 = z.object({ orderId: z.string(), cents: z.number().default(0) });

test('an upgrade takes what the former schema made, and gives what the next one takes', () => {
  const chain = versioned(V1).to(V2, (old) => {
    expectTypeOf(old).toEqualTypeOf<{ order: number }>();
    return { orderId: `A-${old.order}` };
  });
  defineTool({
    name: 'refund',
    description: '',
    inputSchema: chain.to(z.object({ id: z.string() }), async (old) => {
      expectTypeOf(old).toEqualTypeOf<{ orderId: string; cents: number }>();
      return { id: old.orderId };
    }),
    execute: (params) => expectTypeOf(params).toEqualTypeOf<{ id: string }>(),
  });
});

test('an upgrade to something else is refused', () => {
  // @ts-expect-error orderId is text
  versioned(V1).to(V2, ({ order }) => ({ orderId: order }));
  // @ts-expect-error the first version has no orderId
  versioned(V1).to(V2, ({ orderId }) => ({ orderId }));
  // @ts-expect-error a plain object describes nothing
  versioned({});
});
