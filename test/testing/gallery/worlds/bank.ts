import { type ToolContext, ToolError } from '../../../../index.ts';

/** What a refund is asked for. */
export interface Refund {
  orderId: string;
  cents: number;
}

/** A refund as the bank booked it, and the call that asked for it first. */
export interface Booking extends Refund {
  refundId: string;
  /** What the request named as the thing to be done once; `null` where it named nothing. */
  reference: string | null;
  idempotencyKey: string;
  executionId: string;
  tenantId: string;
}

/**
 * A bank with an endpoint for each degree of care; which one a tool uses is the tool's. Each endpoint decides and books in one step, as a
 * receiver with one transaction does. Its refusals say that nothing was booked, unless something may have been.
 */
export class Bank {
  readonly bookings: Booking[] = [];
  /** Keys of calls of which it takes nothing more. */
  readonly #closed = new Set<string>();
  /** By key of a call, the highest fencing token that asked about it. */
  readonly #fences = new Map<string, number>();

  /** Books, however often it is asked. */
  book(refund: Refund, context: ToolContext): Booking {
    return this.#book(refund, context, null);
  }

  /** Books once for each reference: whoever comes later with it is answered with the booking of then, whatever they ask. */
  bookOnce(reference: string, refund: Refund, context: ToolContext): Booking {
    const known = this.bookings.find((booking) => booking.reference === reference);
    return known ?? this.#book(refund, context, reference);
  }

  /** Books once for each call: a second request of it is refused, without saying what became of the first. */
  bookStrictly(refund: Refund, context: ToolContext): Booking {
    if (this.#of(context.idempotencyKey) !== undefined) {
      throw new ToolError('the reference is taken', { outcome: 'unknown' });
    }
    return this.#book(refund, context, context.idempotencyKey);
  }

  /** What was booked for a call. From then on nothing is booked for it by a process whose token is lower than that of whoever looks. */
  look({ idempotencyKey, fencingToken }: ToolContext): Booking | undefined {
    this.#fences.set(idempotencyKey, Math.max(fencingToken, this.#fences.get(idempotencyKey) ?? 0));
    return this.#of(idempotencyKey);
  }

  /** A person has it take nothing more of a call, and then looks: what they say stays true, however late a process is. */
  settle(idempotencyKey: string): { outcome: 'succeeded'; output: unknown } | { outcome: 'failed' } {
    this.#closed.add(idempotencyKey);
    const booking = this.#of(idempotencyKey);
    return booking === undefined
      ? { outcome: 'failed' }
      : { outcome: 'succeeded', output: { refundId: booking.refundId } };
  }

  #book({ orderId, cents }: Refund, context: ToolContext, reference: string | null): Booking {
    const { idempotencyKey, executionId, tenantId, fencingToken } = context;
    if (this.#closed.has(idempotencyKey) || fencingToken < (this.#fences.get(idempotencyKey) ?? 0)) {
      const outcome = this.#of(idempotencyKey) === undefined ? 'failed' : 'unknown';
      throw new ToolError('nothing more is taken for that call', { outcome });
    }
    const refundId = `R-${this.bookings.length + 1}`;
    const booking = { refundId, orderId, cents, reference, idempotencyKey, executionId, tenantId };
    this.bookings.push(booking);
    return booking;
  }

  #of(idempotencyKey: string): Booking | undefined {
    return this.bookings.find((booking) => booking.idempotencyKey === idempotencyKey);
  }
}
