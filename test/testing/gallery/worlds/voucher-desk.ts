/** A voucher that was given out. `at` is in milliseconds since 1970. */
export interface Voucher {
  key: string;
  executionId: string;
  /** Tenant and user. */
  owner: string;
  cents: number;
  at: number;
}

const HOUR_MS = 3_600_000;

/** Gives out vouchers, once for each key. */
export class VoucherDesk {
  readonly vouchers: Voucher[] = [];
  readonly #closed = new Set<string>();

  give(voucher: Voucher): Voucher {
    const known = this.vouchers.find(({ key }) => key === voucher.key);
    if (known !== undefined) return known;
    if (this.#closed.has(voucher.key)) throw new Error('nothing more is taken under that key');
    this.vouchers.push(voucher);
    return voucher;
  }

  /** Gives out one an hour to each owner: looks and gives in one step. */
  giveHourly(voucher: Voucher): Voucher {
    const isKnown = this.vouchers.some(({ key }) => key === voucher.key);
    if (!isKnown && this.vouchers.some((other) => areWithinAnHour(other, voucher))) {
      throw new Error('there was one within the hour');
    }
    return this.give(voucher);
  }

  /** A person has it give nothing more under a key, and then looks. */
  settle(key: string): { outcome: 'succeeded'; output: unknown } | { outcome: 'failed' } {
    this.#closed.add(key);
    const known = this.vouchers.find((voucher) => voucher.key === key);
    return known === undefined ? { outcome: 'failed' } : { outcome: 'succeeded', output: { cents: known.cents } };
  }

  /** Nobody has two vouchers that were given out within an hour. */
  givesOneAnHour(): boolean | string {
    const early = this.vouchers.find((one, index) =>
      this.vouchers.slice(0, index).some((other) => areWithinAnHour(other, one)),
    );
    return early === undefined || `two vouchers within an hour: ${early.owner}`;
  }
}

/** By the distance of their times, since a clock may jump back. */
function areWithinAnHour(one: Voucher, other: Voucher): boolean {
  return one.owner === other.owner && Math.abs(one.at - other.at) < HOUR_MS;
}
