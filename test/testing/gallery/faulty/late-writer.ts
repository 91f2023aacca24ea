import fc from 'fast-check';
import { z } from 'zod';
import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Drafts } from '../worlds/drafts.ts';

/**
 * Reached by a call that is stalled before the drafts until another process has taken over and saved. To set a value is idempotent by nature,
 * but not by one who comes late.
 */
export const lateWriter: ToolsEntry<Drafts> = {
  name: 'late-writer',
  title:
    'It saves what it has whenever it gets there, though its signal has aborted and another process holds the session.',
  mistake: 'a late process is not refused',
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
          drafts.save(text, context);
          await worker.at('after the drafts');
          return { saved: text };
        },
      }),
    ],
    calls: { save_draft: fc.record({ text: fc.constantFrom('Dear Ana', 'Dear Bo') }) },
    invariants: {
      'no draft is saved over one of a process that took the session over': ({ world }) =>
        world.isInTheOrderOfTheTokens(),
    },
  },
};
