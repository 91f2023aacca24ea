import { defineTool, type ToolContext, ToolError } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank, type Booking, type Refund } from '../worlds/bank.ts';
import { eachCallIsBookedOnce } from '../worlds/each-call-is-booked-once.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';
import { whatFailedWasNotBooked } from '../worlds/what-failed-was-not-booked.ts';
import { whatSucceededWasBooked } from '../worlds/what-succeeded-was-booked.ts';

/** A bank that is busy when it hears of a call for the first time. */
class BusyBank extends Bank {
  readonly #heardOf = new Set<string>();

  bookUnlessBusy(refund: Refund, context: ToolContext): Booking {
    if (!this.#heardOf.has(context.idempotencyKey)) {
      this.#heardOf.add(context.idempotencyKey);
      throw new ToolError('the bank is busy', { retryable: true });
    }
    return this.bookStrictly(refund, context);
  }
}

/**
 * Right, since a bank that is busy has booked nothing, and a time-out is left to its class: a person is asked.
 */
export const busyBeforeTheAct: ToolsEntry<BusyBank> = {
  name: 'busy-before-the-act',
  title: 'It has a call tried again where the bank refused to take it, and where an answer is lost it does not know.',
  kind: 'tools',
  check: {
    world: () => new BusyBank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'nonRepeatable',
        retry: { attempts: 3, backoff: { initialMs: 0 } },
        execute: async (refund, context) => {
          await worker.at('before the bank');
          const { refundId } = bank.bookUnlessBusy(refund, context);
          await worker.at('after the bank');
          return { refundId };
        },
      }),
    ],
    calls: { refund: refundCalls },
    invariants: {
      'each call is booked at most once': eachCallIsBookedOnce,
      'what is recorded as succeeded was booked': whatSucceededWasBooked,
      'what is recorded as failed was not booked': whatFailedWasNotBooked,
    },
    people: { settle: (bank, { idempotencyKey }) => bank.settle(idempotencyKey) },
  },
};
