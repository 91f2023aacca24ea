import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { eachCallIsBookedOnce } from '../worlds/each-call-is-booked-once.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

/** A bank, and a table of the keys that are done, which outlives the processes too. */
class MarkedBank extends Bank {
  readonly done = new Set<string>();
}

/**
 * Reached by a call and a crash or a time-out between the bank and the mark.
 */
export const markedAfterTheAct: ToolsEntry<MarkedBank> = {
  name: 'marked-after-the-act',
  title: 'It acts and then marks its key as done, so that a crash in between leaves a refund and no mark.',
  mistake: 'act and mark are two steps',
  kind: 'tools',
  check: {
    world: () => new MarkedBank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'idempotent',
        execute: async (refund, context) => {
          if (bank.done.has(context.idempotencyKey)) return { refunded: true };
          await worker.at('before the bank');
          bank.book(refund, context);
          await worker.at('between the bank and the mark');
          bank.done.add(context.idempotencyKey);
          return { refunded: true };
        },
      }),
    ],
    calls: { refund: refundCalls },
    invariants: {
      'each call is booked at most once': eachCallIsBookedOnce,
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
