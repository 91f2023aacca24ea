import type { ToolContext } from '../../../../index.ts';
import { Bank, type Booking, type Refund } from './bank.ts';

const LOCKED_MS = 30_000;

/** A bank that lends a lock for each order of a tenant, for half a minute: so that a process that dies does not keep it. */
export class LockedBank extends Bank {
  readonly #held = new Map<string, { number: number; until: number }>();
  /** By order, the number of the last lock. */
  readonly #numbers = new Map<string, number>();

  /** The number of the lock, which rises. Refuses while somebody has it. */
  lock(order: string, now: number): number {
    const held = this.#held.get(order);
    if (held !== undefined && now < held.until) throw new Error('somebody is at work on that order');
    const number = (this.#numbers.get(order) ?? 0) + 1;
    this.#numbers.set(order, number);
    this.#held.set(order, { number, until: now + LOCKED_MS });
    return number;
  }

  /** Gives back one's own lock, and no other. */
  unlock(order: string, number: number): void {
    if (this.#held.get(order)?.number === number) this.#held.delete(order);
  }

  /** Books strictly, for whoever has had the lock last. */
  bookUnder(number: number, refund: Refund, context: ToolContext): Booking {
    const last = this.#numbers.get(orderOf(refund, context));
    if (last !== number) throw new Error('somebody else has got the lock since');
    return this.bookStrictly(refund, context);
  }

  isRefunded(order: string): boolean {
    return this.bookings.some((booking) => orderOf(booking, booking) === order);
  }
}

/** An order, as it is locked. */
export function orderOf({ orderId }: { orderId: string }, { tenantId }: { tenantId: string }): string {
  return `${tenantId}/${orderId}`;
}
