import fc from 'fast-check';
import { z } from 'zod';
import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { AccountsWithUndo } from '../worlds/accounts-with-undo.ts';

/**
 * Reached by a call of 10, which the savings refuse, and a crash or a lost answer after the undo: the next attempt is refused too, and puts
 * the money back once more.
 */
export const undoWithoutAKey: ToolsEntry<AccountsWithUndo> = {
  name: 'undo-without-a-key',
  title: 'Debit and credit have the key of the call, and the undo of a debit is a new booking each time.',
  mistake: 'an undo that is done twice',
  kind: 'tools',
  check: {
    world: () => new AccountsWithUndo(),
    tools: (accounts, worker) => [
      defineTool({
        name: 'put_aside',
        description: 'Moves money to the savings.',
        inputSchema: z.object({ cents: z.int().positive() }),
        effect: 'idempotent',
        execute: async ({ cents }, context) => {
          await worker.at('before the debit');
          accounts.debit(cents, context);
          await worker.at('between debit and credit');
          try {
            accounts.credit(cents, context);
          } catch (cause) {
            accounts.giveBack(cents, context);
            await worker.at('after the undo');
            throw new Error('nothing was put aside', { cause });
          }
          await worker.at('after the credit');
          return { saved: cents };
        },
      }),
    ],
    calls: { put_aside: fc.record({ cents: fc.constantFrom(5, 10) }) },
    invariants: {
      'no money appears': ({ world }) => world.total <= 100 || `there are ${world.total} where there were 100`,
    },
  },
};
