import fc from 'fast-check';
import { z } from 'zod';
import { allow, defineTool, requireApproval, type Tool } from '../../index.ts';
import type { ToolPolicyCheck } from '../../testing/check-tool-policy.ts';
import type { ProcessUnderTest } from '../../testing/subject.ts';

/** A bank's books. */
export interface Books {
  payments: { order: string; cents: number; key: string }[];
}

const input = z.object({ order: z.string(), cents: z.int() });

/** A refund tool at these books; `isCareful`: it pays once for each key. */
export function refundTool(books: Books, process: ProcessUnderTest, isCareful: boolean): Tool {
  return defineTool({
    name: 'refund',
    description: 'Pays an order back.',
    inputSchema: input,
    effect: 'idempotent',
    async execute({ order, cents }, { idempotencyKey: key }) {
      await process.at('before the bank');
      const isPaid = books.payments.some((payment) => payment.key === key);
      if (!isCareful || !isPaid) books.payments.push({ order, cents, key });
      await process.at('after the bank');
      return { order };
    },
  });
}

/** Tools of the classes that a refund is not of: one acts inside the commit, of one a person is asked about large sums. */
export function otherTools(process: ProcessUnderTest): Tool[] {
  const book = defineTool({
    name: 'book',
    description: 'Books in the database.',
    inputSchema: input,
    effect: 'transactional',
    async execute({ cents }, { transaction }) {
      await process.at('inside the transaction');
      const { rows } = await transaction.query('select $1::int as cents', [cents]);
      return rows[0];
    },
  });
  const charge = defineTool({
    name: 'charge',
    description: 'Charges somebody.',
    inputSchema: input,
    policy: ({ cents }) => (cents > 100 ? requireApproval() : allow()),
    execute: async () => {
      await process.at('while it charges');
      return null;
    },
  });
  return [book, charge];
}

/** Params of all of them. */
export const params = fc.record({ order: fc.constantFrom('1', '2'), cents: fc.constantFrom(50, 500) });

/** The check of the refund tool. */
export function refundCheck(isCareful: boolean): ToolPolicyCheck<Books> {
  return {
    world: () => ({ payments: [] }),
    tools: (books, process) => [refundTool(books, process, isCareful)],
    calls: { refund: params },
    invariants: {
      'each call is paid once': ({ world }) => {
        const keys = world.payments.map(({ key }) => key);
        return new Set(keys).size === keys.length || `paid ${keys.length} times, for ${new Set(keys).size} calls`;
      },
    },
  };
}
