import { setTimeout as pause } from 'node:timers/promises';

type Falsy = false | null | undefined | 0 | '';

/** What is waited for, and for how long. */
export interface WaitOptions {
  /** Names the awaited thing in the failure, so that a time-out says what never came. */
  readonly for: string;
  /** Milliseconds, inclusive. Default 10 000. */
  readonly timeoutMs?: number;
  /** Milliseconds between two looks. Default 10. */
  readonly everyMs?: number;
}

/**
 * Looks until the condition answers something truthy, and answers it. A condition that throws fails the wait at once.
 * This is the only place in the tests where time passes without an event: never sleep in a test, name what you wait for.
 */
export async function waitFor<T>(condition: () => T | Falsy | Promise<T | Falsy>, options: WaitOptions): Promise<T> {
  const timeoutMs = options.timeoutMs ?? 10_000;
  const endsAt = performance.now() + timeoutMs;
  for (;;) {
    const answer = await condition();
    if (answer) return answer;
    if (performance.now() > endsAt) throw new Error(`waited ${timeoutMs} ms in vain for ${options.for}`);
    await pause(options.everyMs ?? 10);
  }
}
