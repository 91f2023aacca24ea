import fc from 'fast-check';
import { z } from 'zod';
import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';

/** Two accounts. A transfer is two bookings. */
class Accounts {
  current = 100;
  savings = 0;
  readonly arrived = new Set<string>();

  debit(cents: number): void {
    this.current -= cents;
  }

  credit(cents: number, key: string): void {
    this.savings += cents;
    this.arrived.add(key);
  }
}

/** Reached by a call and a crash or a time-out between the two bookings. A person who looks for the money says that it did not arrive. */
export const halfATransfer: ToolsEntry<Accounts> = {
  name: 'half-a-transfer',
  title: 'It debits one account and then credits another, and nothing undoes the first where the second never comes.',
  mistake: 'half of an act without compensation',
  kind: 'tools',
  check: {
    world: () => new Accounts(),
    tools: (accounts, worker) => [
      defineTool({
        name: 'save_money',
        description: 'Moves money to the savings.',
        inputSchema: z.object({ cents: z.int().positive() }),
        effect: 'nonRepeatable',
        execute: async ({ cents }, { idempotencyKey }) => {
          accounts.debit(cents);
          await worker.at('between debit and credit');
          accounts.credit(cents, idempotencyKey);
          return { saved: cents };
        },
      }),
    ],
    calls: { save_money: fc.record({ cents: fc.constantFrom(5, 10) }) },
    invariants: {
      'no money appears or vanishes': ({ world: { current, savings } }) =>
        current + savings === 100 || `${current} and ${savings} are not 100`,
    },
    people: {
      settle: ({ arrived }, { idempotencyKey, params }) =>
        arrived.has(idempotencyKey)
          ? { outcome: 'succeeded', output: { saved: (params as { cents: number }).cents } }
          : { outcome: 'failed' },
    },
  },
};
