/** Which process has a transaction open, and for which session: on one connection there is one at a time. */
export class TransactionHolder {
  #process: object | null = null;
  #sessionId: string | undefined;

  take(process: object, sessionId: string | undefined): void {
    this.#process = process;
    this.#sessionId = sessionId;
  }

  free(): void {
    this.#process = null;
  }

  /** Whether it is a transaction of that process. */
  isOf(process: object): boolean {
    return this.#process === process;
  }

  /** Whether it is the transaction of that session in that process: what acts then, acts inside it. */
  isHeldBy(process: object, sessionId: string | undefined): boolean {
    return this.#process === process && sessionId !== undefined && this.#sessionId === sessionId;
  }
}
