import { defineTool, type Tool } from 'turnlock';
import type { ProcessUnderTest } from 'turnlock/testing';
import { z } from 'zod';
import type { Bank } from './bank.ts';

/** The same, and the bank is told which call it is: the key stays the same over every attempt. */
export function rightRefund(bank: Bank, process: ProcessUnderTest): Tool {
  return defineTool({
    name: 'refund',
    description: 'Pays an order back.',
    inputSchema: z.object({ order: z.string(), cents: z.int().positive() }),
    effect: 'idempotent',
    once: { per: 'tenant', key: ({ order }) => order },
    async execute({ order, cents }, { idempotencyKey }) {
      await process.at('before the bank');
      bank.pay({ order, cents }, idempotencyKey);
      await process.at('after the bank');
      return { paid: cents };
    },
  });
}
