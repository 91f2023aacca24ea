import type { Environment } from '../environment.ts';

/** What a waiting worker is woken by: nothing that is woken while nobody waits is lost. */
export class Wake {
  #isWoken = false;
  #wake: () => void = () => undefined;

  /** Ends the present wait, or else the next one before it begins. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Resolves once it is woken, after `ms` milliseconds, or when `signal` aborts. One waits at a time. */
  async wait(environment: Environment, ms: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    this.#wake = () => over.abort();
    if (!this.#isWoken) await environment.sleep(ms, AbortSignal.any([over.signal, signal])).catch(() => undefined);
    this.#wake = () => undefined;
    this.#isWoken = false;
  }
}
