import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank } from '../worlds/bank.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatSucceededWasBooked } from '../worlds/what-succeeded-was-booked.ts';

/** A bank, and a table of the keys that are done, which outlives the processes too. */
class MarkedBank extends Bank {
  readonly done = new Set<string>();
}

/**
 * Reached by a call and a crash or a time-out between the mark and the bank: the next attempt finds the mark and reports success.
 */
export const markedBeforeTheAct: ToolsEntry<MarkedBank> = {
  name: 'marked-before-the-act',
  title: 'It marks its key as done and then acts, so that a crash in between leaves a mark and no refund.',
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
          bank.done.add(context.idempotencyKey);
          await worker.at('between the mark and the bank');
          bank.book(refund, context);
          return { refunded: true };
        },
      }),
    ],
    calls: { refund: refundCalls },
    invariants: {
      'what is recorded as succeeded was booked': whatSucceededWasBooked,
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
