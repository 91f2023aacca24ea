import fc from 'fast-check';
import { z } from 'zod';
import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { AccountsWithUndo } from '../worlds/accounts-with-undo.ts';

/**
 * Right, since every step is done once for the call, whoever comes again and however late, and what the savings refuse they always refuse. A
 * call that is lost between its steps is unknown, of which nothing is promised but that no money appears.
 */
export const undoByKey: ToolsEntry<AccountsWithUndo> = {
  name: 'undo-by-key',
  title: 'Debit, credit and the undo of the debit are three steps, each done once for the key of the call.',
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
            accounts.giveBackOnce(cents, context);
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
      'what is recorded as failed moved nothing': ({ world, executions }) =>
        executions
          .filter(({ status, isUnknown }) => status === 'FAILED' && !isUnknown)
          .every((call) => {
            const kinds = world.entries
              .filter((entry) => entry.executionId === call.executionId)
              .map(({ kind }) => kind);
            return kinds.length === 0 || kinds.sort().join() === 'debit,undo';
          }),
    },
  },
};
