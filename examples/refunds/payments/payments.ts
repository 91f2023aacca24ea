import type { Ledger, LedgerEntry } from './ledger.ts';

/** A refund that was asked for. */
export interface Asked {
  orderId: string;
  cents: number;
  /** From the header `idempotency-key`. */
  key: string | null;
  /** From the headers `fencing-token` and `fencing-scope`: of one scope, a lower token than an earlier one is stale. */
  token: number | null;
  scope: string | null;
}

/** A refund that was booked. */
export type Refund = Pick<Extract<LedgerEntry, { type: 'booked' }>, 'refundId' | 'orderId' | 'cents' | 'key'>;

/** What became of a request. */
export type Decision = { refund: Refund } | { refused: 'staleToken' | 'otherContent' };

/** The rules by which refunds are booked. All that it knows stands in its ledger, so the next process on it knows the same. */
export class Payments {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Writes that something was asked. @returns the request's number. */
  asked(asked: Asked): number {
    const request = this.#nextRequest();
    this.#ledger.write({ type: 'asked', request, ...asked });
    return request;
  }

  /** Writes that somebody asked a question. */
  looked(path: string): void {
    this.#ledger.write({ type: 'looked', request: this.#nextRequest(), path });
  }

  /** Books a refund, finds the one that was booked with its key, or refuses. */
  book(request: number, asked: Asked, rules: { honoursKeys: boolean; checksTokens: boolean }): Decision {
    if (rules.checksTokens && this.#isStale(asked)) return this.#refuse(request, 'staleToken');
    const { key, orderId, cents } = asked;
    const known = rules.honoursKeys && key !== null ? this.refunds({ key })[0] : undefined;
    if (known !== undefined && key !== null) {
      if (known.orderId !== orderId || known.cents !== cents) return this.#refuse(request, 'otherContent');
      this.#ledger.write({ type: 'repeated', request, key, refundId: known.refundId });
      return { refund: known };
    }
    const refund = { refundId: `R-${1_001 + this.refunds().length}`, orderId, cents, key };
    this.#ledger.write({ type: 'booked', request, ...refund });
    return { refund };
  }

  /** A request that came to nothing. */
  failed(request: number, why: 'failure' | 'lost'): void {
    this.#ledger.write({ type: 'refused', request, why });
  }

  /** The answer found nobody. */
  answerLost(request: number): void {
    this.#ledger.write({ type: 'answerLost', request });
  }

  /** What was booked: all of it, that of an order, that with a key. */
  refunds(of: { orderId?: string | null; key?: string | null } = {}): Refund[] {
    return this.#ledger.entries.flatMap((entry) => {
      if (entry.type !== 'booked') return [];
      const { refundId, orderId, cents, key } = entry;
      const isMeant = (of.orderId ?? orderId) === orderId && (of.key ?? key) === key;
      return isMeant ? [{ refundId, orderId, cents, key }] : [];
    });
  }

  #isStale({ token, scope }: Asked): boolean {
    if (token === null) return false;
    return this.#ledger.entries.some(
      (entry) => entry.type === 'asked' && entry.scope === scope && entry.token !== null && entry.token > token,
    );
  }

  #refuse(request: number, why: 'staleToken' | 'otherContent'): Decision {
    this.#ledger.write({ type: 'refused', request, why });
    return { refused: why };
  }

  #nextRequest(): number {
    return this.#ledger.entries.reduce((last, { request }) => Math.max(last, request), 0) + 1;
  }
}
