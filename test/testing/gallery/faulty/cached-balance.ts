import fc from 'fast-check';
import { z } from 'zod';
import { allow, defineTool, deny } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';

const CACHED_MS = 300_000;

/** An account with 100 in it, which its bank lets go below zero. It pays once for each key. */
class Account {
  readonly #paid = new Map<string, number>();

  get balance(): number {
    return 100 - [...this.#paid.values()].reduce((sum, cents) => sum + cents, 0);
  }

  pay(key: string, cents: number): void {
    if (!this.#paid.has(key)) this.#paid.set(key, cents);
  }
}

/** Reached by two calls that the same process judges within five minutes, of 60 and 80, in whatever sessions. */
export const cachedBalance: ToolsEntry<Account> = {
  name: 'cached-balance',
  title: 'The policy compares a payment with a balance that it read up to five minutes ago.',
  mistake: 'a policy that reads stale state',
  kind: 'tools',
  check: {
    world: () => new Account(),
    tools: (account, worker) => {
      let cached: { balance: number; at: number } | null = null;
      return [
        defineTool({
          name: 'pay',
          description: 'Pays out of the account of the company.',
          inputSchema: z.object({ cents: z.int().positive() }),
          effect: 'idempotent',
          policy: ({ cents }) => {
            const now = worker.now();
            if (cached === null || now - cached.at > CACHED_MS) cached = { balance: account.balance, at: now };
            return cents <= cached.balance ? allow() : deny('There is not enough in the account.');
          },
          execute: async ({ cents }, { idempotencyKey }) => {
            await worker.at('before the bank');
            account.pay(idempotencyKey, cents);
            await worker.at('after the bank');
            return { paid: cents };
          },
        }),
      ];
    },
    calls: { pay: fc.record({ cents: fc.constantFrom(60, 80) }) },
    invariants: {
      'the account is not overdrawn': ({ world }) => world.balance >= 0 || `its balance is ${world.balance}`,
    },
  },
};
