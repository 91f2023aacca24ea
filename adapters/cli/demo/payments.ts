import { fsyncSync, openSync, writeSync } from 'node:fs';
import type { LedgerEntry } from './ledger.ts';

type Entry<Kind extends LedgerEntry['kind']> = Omit<Extract<LedgerEntry, { kind: Kind }>, 'at'>;

/** An order as the shop knows it. */
export interface Order {
  orderId: string;
  item: string;
  cents: number;
}

const ITEMS: readonly [item: string, cents: number][] = [
  ['a teapot', 4_900],
  ['six glasses', 3_150],
  ['a vase', 7_425],
];

/**
 * The outside world of the demonstration: it books refunds, honours idempotency keys as payment providers do, and writes everything to a
 * ledger file of its own before it answers.
 */
export class Payments {
  readonly #file: number;
  readonly #onEntry: (entry: LedgerEntry) => void;
  readonly #refunds = new Map<string, string>();
  readonly #told = new Set<string>();

  constructor(file: string, onEntry: (entry: LedgerEntry) => void) {
    this.#file = openSync(file, 'a');
    this.#onEntry = onEntry;
  }

  /** Every number is an order. */
  order(orderId: string): Order {
    const [item, cents] = ITEMS[Number(orderId) % ITEMS.length] ?? ['a teapot', 4_900];
    return { orderId, item, cents };
  }

  /** Books a refund, or finds the one that was booked with this key. */
  refund(request: { key: string; orderId: string; cents: number }): { refundId: string; isNew: boolean } {
    const { key } = request;
    this.#write({ kind: 'refundRequested', ...request });
    const known = this.#refunds.get(key);
    if (known !== undefined) {
      this.#write({ kind: 'refundRepeated', key, refundId: known });
      return { refundId: known, isNew: false };
    }
    const refundId = `R-${1_001 + this.#refunds.size}`;
    this.#refunds.set(key, refundId);
    this.#write({ kind: 'refundBooked', ...request, refundId });
    return { refundId, isNew: true };
  }

  /** The answer to a request found nobody. */
  answerLost(key: string): void {
    this.#write({ kind: 'answerLost', key });
  }

  /** Writes to the customer, once for each key. */
  tellCustomer(message: { key: string; orderId: string; text: string }): void {
    if (this.#told.has(message.key)) return;
    this.#told.add(message.key);
    this.#write({ kind: 'customerTold', ...message });
  }

  #write(entry: { [Kind in LedgerEntry['kind']]: Entry<Kind> }[LedgerEntry['kind']]): void {
    const line = { at: new Date().toISOString(), ...entry } as LedgerEntry;
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
    fsyncSync(this.#file);
    this.#onEntry(line);
  }
}
