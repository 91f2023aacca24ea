import fc from 'fast-check';
import { z } from 'zod';
import { allow, defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';

/** Credits, with the user to whom each was given and the one whose session asked for it. */
class Credits {
  readonly given: { key: string; givenTo: string; askedBy: string }[] = [];

  give(credit: { key: string; givenTo: string; askedBy: string }): void {
    if (!this.given.some(({ key }) => key === credit.key)) this.given.push(credit);
  }
}

/**
 * Reached by calls in sessions of two users in one process, the first of which is stalled before the account; or by a call and a crash there,
 * where the next process has judged nothing before it goes on.
 */
export const currentUserInAVariable: ToolsEntry<Credits> = {
  name: 'current-user-in-a-variable',
  title: 'The policy notes the user of the call in a variable of the process, and the tool reads it later.',
  mistake: 'state in the memory of a process',
  kind: 'tools',
  check: {
    world: () => new Credits(),
    tools: (credits, worker) => {
      let currentUser = 'nobody';
      return [
        defineTool({
          name: 'give_credit',
          description: 'Gives a credit to the user.',
          inputSchema: z.object({ cents: z.int().positive() }),
          effect: 'idempotent',
          policy: (_, { tenantId, userId }) => {
            currentUser = `${tenantId}/${userId}`;
            return allow();
          },
          execute: async ({ cents }, { tenantId, userId, idempotencyKey: key }) => {
            await worker.at('before the account');
            credits.give({ key, givenTo: currentUser, askedBy: `${tenantId}/${userId}` });
            await worker.at('after the account');
            return { credit: cents };
          },
        }),
      ];
    },
    calls: { give_credit: fc.record({ cents: fc.constantFrom(5, 10) }) },
    invariants: {
      'a credit goes to the user whose session asked for it': ({ world }) => {
        const wrong = world.given.find(({ givenTo, askedBy }) => givenTo !== askedBy);
        return wrong === undefined || `asked by ${wrong.askedBy}, given to ${wrong.givenTo}`;
      },
    },
  },
};
