import type { ToolContext } from '../../../../index.ts';

/** What changed an account, and for which call. */
interface Entry {
  kind: 'debit' | 'credit' | 'undo';
  executionId: string;
  key: string;
  cents: number;
}

/** Cents that the savings take at once. */
const MOST_CENTS = 8;

/** A current account with 100 in it, and savings. A debit and a credit are booked once for each call; of an undo the caller has the choice. */
export class AccountsWithUndo {
  readonly entries: Entry[] = [];

  get total(): number {
    return this.entries.reduce((sum, { kind, cents }) => sum + (kind === 'debit' ? -cents : cents), 100);
  }

  debit(cents: number, context: ToolContext): void {
    this.#onceFor('debit', cents, context);
  }

  /** Refuses what is too much, each time that it is asked. */
  credit(cents: number, context: ToolContext): void {
    if (cents > MOST_CENTS) throw new Error(`the savings take no more than ${MOST_CENTS} at once`);
    this.#onceFor('credit', cents, context);
  }

  /** Puts back, however often it is asked. */
  giveBack(cents: number, { executionId, idempotencyKey: key }: ToolContext): void {
    this.entries.push({ kind: 'undo', executionId, key, cents });
  }

  /** Puts back once for each call. */
  giveBackOnce(cents: number, context: ToolContext): void {
    this.#onceFor('undo', cents, context);
  }

  #onceFor(kind: Entry['kind'], cents: number, { executionId, idempotencyKey: key }: ToolContext): void {
    if (this.entries.some((entry) => entry.kind === kind && entry.key === key)) return;
    this.entries.push({ kind, executionId, key, cents });
  }
}
