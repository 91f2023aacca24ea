/** Which process has a transaction open: on one connection there is one at a time. */
export class TransactionHolder {
  #process: object | null = null;

  take(process: object): void {
    this.#process = process;
  }

  free(): void {
    this.#process = null;
  }

  /** Whether it is a transaction of that process. */
  isOf(process: object): boolean {
    return this.#process === process;
  }
}
