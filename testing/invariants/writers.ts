import { PROMISE_NAMES } from './promise-names.ts';

/** A transaction, as its client sees it: over once it has sent its end, or has lost its connection. */
export interface SeenTransaction {
  isOver: boolean;
}

/** Who writes to which session: a promise of the session's lock, which is seen only where transactions overlap. */
export class Writers {
  readonly #writing = new Map<string, SeenTransaction>();
  #broken: { invariant: string; message: string } | null = null;

  /** Notes that a transaction has passed the lock of a session. `name`: how people call the session. */
  passedLock(sessionId: string, transaction: SeenTransaction, name: () => string): void {
    const other = this.#writing.get(sessionId);
    this.#writing.set(sessionId, transaction);
    if (other === undefined || other === transaction || other.isOver) return;
    this.#broken ??= {
      invariant: PROMISE_NAMES.writer,
      message: `a transaction passed the lock of ${name()} while another one was between it and its end`,
    };
  }

  get broken(): { invariant: string; message: string } | null {
    return this.#broken;
  }
}
