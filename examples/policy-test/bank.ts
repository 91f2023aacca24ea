/** A payment back, as the bank has it in its books. */
export interface Payment {
  order: string;
  cents: number;
}

/** The bank, as a test has it: books in memory, which outlive every process of ours. */
export class Bank {
  readonly payments: Payment[] = [];
  readonly #keys = new Set<string>();

  /** Pays back. With a `key` that it has seen it pays nothing a second time. */
  pay(payment: Payment, key?: string): void {
    if (key !== undefined && this.#keys.has(key)) return;
    if (key !== undefined) this.#keys.add(key);
    this.payments.push(payment);
  }
}
