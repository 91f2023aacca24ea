import { defineTool, type ToolContext } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Bank, type Booking, type Refund } from '../worlds/bank.ts';
import { eachCallIsBookedOnce } from '../worlds/each-call-is-booked-once.ts';
import { refundCalls } from '../worlds/refund-calls.ts';
import { refundInput } from '../worlds/refund-input.ts';

const DAY_MS = 86_400_000;

/** A bank that knows a key for a day. */
class ForgetfulBank extends Bank {
  readonly #known = new Map<string, { booking: Booking; at: number }>();

  bookOnceADay(refund: Refund, context: ToolContext, now: number): Booking {
    const known = this.#known.get(context.idempotencyKey);
    if (known !== undefined && now - known.at < DAY_MS) return known.booking;
    const booking = this.book(refund, context);
    this.#known.set(context.idempotencyKey, { booking, at: now });
    return booking;
  }
}

/**
 * Reached by a call, a crash after the bank, and a jump of the clock by weeks before another process takes the call over.
 */
export const keyForgottenAfterADay: ToolsEntry<ForgetfulBank> = {
  name: 'key-forgotten-after-a-day',
  title: 'It is declared idempotent without an end, and the bank forgets a key after a day.',
  mistake: 'a key that the receiver forgets',
  kind: 'tools',
  check: {
    world: () => new ForgetfulBank(),
    tools: (bank, worker) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: refundInput,
        effect: 'idempotent',
        execute: async (refund, context) => {
          await worker.at('before the bank');
          const { refundId } = bank.bookOnceADay(refund, context, worker.now());
          await worker.at('after the bank');
          return { refundId };
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
