import { existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { type LedgerEntry, parseLedger } from './ledger.ts';

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
 * ledger file of its own before it answers. With the ledger of an earlier one it knows what that one did;
 * the file is made with its first entry.
 */
export class Payments {
  readonly #path: string;
  #file: number | undefined;
  readonly #onEntry: (entry: LedgerEntry) => void;
  readonly #refunds = new Map<string, string>();
  readonly #told = new Set<string>();

  /** `path` names the ledger file. */
  constructor(path: string, onEntry: (entry: LedgerEntry) => void) {
    this.#onEntry = onEntry;
    this.#path = path;
    if (!existsSync(path)) return;
    this.#file = openSync(path, 'a+');
    for (const entry of readWritten(this.#file)) this.#remember(entry);
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
    this.#write({ kind: 'customerTold', ...message });
  }

  #write(entry: { [Kind in LedgerEntry['kind']]: Entry<Kind> }[LedgerEntry['kind']]): void {
    const line = { at: new Date().toISOString(), ...entry } as LedgerEntry;
    this.#file ??= openSync(this.#path, 'a+');
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
    fsyncSync(this.#file);
    this.#remember(line);
    this.#onEntry(line);
  }

  #remember(entry: LedgerEntry): void {
    if (entry.kind === 'refundBooked') this.#refunds.set(entry.key, entry.refundId);
    if (entry.kind === 'customerTold') this.#told.add(entry.key);
  }
}

/** What stands in the file. A line that its writer did not finish was answered to nobody: it is cut off. */
function readWritten(file: number): LedgerEntry[] {
  const bytes = readFileSync(file);
  const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1);
  if (whole.length < bytes.length) ftruncateSync(file, whole.length);
  return parseLedger(whole.toString('utf8'));
}
