import fc from 'fast-check';
import { z } from 'zod';
import { defineTool, type ToolContext } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';

/** Two accounts. A transfer is one booking, once for each key, until somebody has closed the key. */
class Accounts {
  current = 100;
  savings = 0;
  /** By key, the call. */
  readonly arrived = new Map<string, string>();
  readonly closed = new Set<string>();

  transfer(cents: number, { idempotencyKey: key, executionId }: ToolContext): void {
    if (this.arrived.has(key)) return;
    if (this.closed.has(key)) throw new Error('nothing more is taken under that key');
    this.current -= cents;
    this.savings += cents;
    this.arrived.set(key, executionId);
  }
}

/** Right, since both accounts change in one step, by a key, wherever its process dies. */
export const transferInOneStep: ToolsEntry<Accounts> = {
  name: 'transfer-in-one-step',
  title: 'The bank moves the money from one account to the other in one step, and once for each key.',
  kind: 'tools',
  check: {
    world: () => new Accounts(),
    tools: (accounts, worker) => [
      defineTool({
        name: 'save_money',
        description: 'Moves money to the savings.',
        inputSchema: z.object({ cents: z.int().positive() }),
        effect: 'idempotent',
        execute: async ({ cents }, context) => {
          await worker.at('before the bank');
          accounts.transfer(cents, context);
          await worker.at('after the bank');
          return { saved: cents };
        },
      }),
    ],
    calls: { save_money: fc.record({ cents: fc.constantFrom(5, 10) }) },
    invariants: {
      'no money appears or vanishes': ({ world: { current, savings } }) =>
        current + savings === 100 || `${current} and ${savings} are not 100`,
      'what is recorded as failed moved nothing': ({ world, executions }) =>
        executions
          .filter(({ status, isUnknown }) => status === 'FAILED' && !isUnknown)
          .every(({ executionId }) => ![...world.arrived.values()].includes(executionId)),
    },
    people: {
      settle: ({ arrived, closed }, { idempotencyKey, params }) => {
        closed.add(idempotencyKey);
        if (!arrived.has(idempotencyKey)) return { outcome: 'failed' };
        return { outcome: 'succeeded', output: { saved: (params as { cents: number }).cents } };
      },
    },
  },
};
