import fc from 'fast-check';
import type { Tool } from 'turnlock';
import { checkToolPolicy, type ProcessUnderTest, type ToolPolicyReport } from 'turnlock/testing';
import { Bank } from './bank.ts';

/** Looks for a schedule in which a refund tool pays an order back twice. */
export function checkRefund(refund: (bank: Bank, process: ProcessUnderTest) => Tool): Promise<ToolPolicyReport> {
  return checkToolPolicy({
    world: () => new Bank(),
    tools: (bank, process) => [refund(bank, process)],
    calls: { refund: fc.record({ order: fc.constantFrom('42', '43'), cents: fc.constantFrom(500, 900) }) },
    invariants: {
      'no order is paid back twice': ({ world }) => {
        const orders = world.payments.map(({ order }) => order);
        return new Set(orders).size === orders.length || `paid back: ${orders.join(', ')}`;
      },
    },
    sessions: { tenants: 1, users: 1, sessions: 2 },
    numRuns: 30,
    seed: 42,
  });
}
