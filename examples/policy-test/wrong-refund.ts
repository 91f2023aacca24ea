import { defineTool, type Tool } from 'turnlock';
import type { ProcessUnderTest } from 'turnlock/testing';
import { z } from 'zod';
import type { Bank } from './bank.ts';

/** Pays an order back, once per order, and again where nobody knows how it ended: paying back twice is paying back. Is it? */
export function wrongRefund(bank: Bank, process: ProcessUnderTest): Tool {
  return defineTool({
    name: 'refund',
    description: 'Pays an order back.',
    inputSchema: z.object({ order: z.string(), cents: z.int().positive() }),
    effect: 'idempotent',
    once: { per: 'tenant', key: ({ order }) => order },
    async execute({ order, cents }) {
      await process.at('before the bank');
      bank.pay({ order, cents });
      await process.at('after the bank');
      return { paid: cents };
    },
  });
}
