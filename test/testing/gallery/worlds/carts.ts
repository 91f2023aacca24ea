import type { ToolContext } from '../../../../index.ts';

/** What was paid for a cart, and by which call. */
export interface CartPayment {
  key: string;
  executionId: string;
  cents: number;
}

/** The carts of the tenants of a shop. Each has a thing for 20 in it from the beginning. */
export class Carts {
  readonly payments: CartPayment[] = [];
  readonly #added = new Map<string, { cart: string; cents: number }>();

  total(cart: string): number {
    return [...this.#added.values()].filter((one) => one.cart === cart).reduce((sum, { cents }) => sum + cents, 20);
  }

  /** Adds a thing, once for each call. */
  add(cart: string, cents: number, { idempotencyKey }: ToolContext): void {
    if (!this.#added.has(idempotencyKey)) this.#added.set(idempotencyKey, { cart, cents });
  }

  /** Pays what is in the cart, once for each call. */
  pay(cart: string, { idempotencyKey: key, executionId }: ToolContext): CartPayment {
    const known = this.payments.find((payment) => payment.key === key);
    if (known !== undefined) return known;
    const payment = { key, executionId, cents: this.total(cart) };
    this.payments.push(payment);
    return payment;
  }

  /** The same, and refuses a call that has not been paid for where the cart comes to another sum. Looks and pays in one step. */
  payExactly(cart: string, cents: number, context: ToolContext): CartPayment {
    const isKnown = this.payments.some(({ key }) => key === context.idempotencyKey);
    if (!isKnown && this.total(cart) !== cents) throw new Error('the cart comes to another sum');
    return this.pay(cart, context);
  }
}
