import fc from 'fast-check';
import { z } from 'zod';
import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Drafts } from '../worlds/drafts.ts';

/**
 * Right, since the fencing token rises whenever another process gets the session, and whoever keeps the drafts compares it in the step that
 * saves. The signal alone would not do: a process that stands still hears it too late.
 */
export const fencedByToken: ToolsEntry<Drafts> = {
  name: 'fenced-by-token',
  title: 'Whoever keeps the drafts refuses a token that is lower than one that it has seen for that session.',
  kind: 'tools',
  check: {
    world: () => new Drafts(),
    tools: (drafts, worker) => [
      defineTool({
        name: 'save_draft',
        description: 'Saves the draft of this conversation in place of the one before.',
        inputSchema: z.object({ text: z.string() }),
        effect: 'idempotent',
        execute: async ({ text }, context) => {
          await worker.at('before the drafts');
          drafts.saveFenced(text, context);
          await worker.at('after the drafts');
          return { saved: text };
        },
      }),
    ],
    calls: { save_draft: fc.record({ text: fc.constantFrom('Dear Ana', 'Dear Bo') }) },
    invariants: {
      'no draft is saved over one of a process that took the session over': ({ world }) =>
        world.isInTheOrderOfTheTokens(),
      'what is recorded as succeeded was saved': ({ world, executions }) =>
        executions
          .filter(({ status }) => status === 'SUCCESS')
          .every(({ sessionId, params }) =>
            world.saved.some(
              (draft) => draft.sessionId === sessionId && draft.text === (params as { text: string }).text,
            ),
          ),
    },
    people: { settle: (drafts, { idempotencyKey }) => drafts.settle(idempotencyKey) },
  },
};
