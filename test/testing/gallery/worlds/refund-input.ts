import { z } from 'zod';

/** What a tool takes that refunds an order. */
export const refundInput = z.object({ orderId: z.string(), cents: z.int().positive() });
