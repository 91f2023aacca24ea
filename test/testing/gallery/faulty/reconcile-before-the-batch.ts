import { defineTool, done, notDone, type ToolContext } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank, type Booking, type Refund } from '../worlds/bank.ts';
import { eachCallIsBookedOnce } from '../worlds/each-call-is-booked-once.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

const DAY_MS = 86_400_000;

/** A bank that accepts a refund at once and shows it a day later. */
class BatchBank extends Bank {
  readonly #acceptedAt = new Map<string, number>();

  accept(refund: Refund, context: ToolContext, now: number): Booking {
    const booking = this.book(refund, context);
    this.#acceptedAt.set(booking.refundId, now);
    return booking;
  }

  statement(context: ToolContext, now: number): Booking | undefined {
    const booked = this.look(context);
    const acceptedAt = booked && this.#acceptedAt.get(booked.refundId);
    return acceptedAt !== undefined && now - acceptedAt >= DAY_MS ? booked : undefined;
  }
}

/**
 * Reached by a call and a crash after the bank, and no jump of the clock by a day before reconcile is asked.
 */
export const reconcileBeforeTheBatch: ToolsEntry<BatchBank> = {
  name: 'reconcile-before-the-batch',
  title:
    'Its reconcile looks at the statement of the bank, on which a refund stands only the day after it was accepted.',
  mistake: 'a reconcile that cannot know yet',
  kind: 'tools',
  check: {
    world: () => new BatchBank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'reconcilable',
        execute: async (refund, context) => {
          await worker.at('before the bank');
          context.signal.throwIfAborted();
          const { refundId } = bank.accept(refund, context, worker.now());
          await worker.at('after the bank');
          return { refundId };
        },
        reconcile: (_, context) => {
          const booked = bank.statement(context, worker.now());
          return booked === undefined ? notDone() : done({ refundId: booked.refundId });
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
