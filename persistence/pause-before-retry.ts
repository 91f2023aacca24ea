import type { Environment } from '../environment.ts';

/** Milliseconds for which a caller's work that certainly did not happen is tried again. A worker's is, as long as its lease lasts. */
export const CALLER_PATIENCE_MS = 1_000;

/** The longest pause between two tries, in milliseconds, before its half to one and a half times. */
const MAX_PAUSE_MS = 500;

/** Waits before try `attempt` + 1: from 40 ms on, doubled each time, spread so that those who failed together do not come back together. */
export function pauseBeforeRetry(environment: Environment, attempt: number): Promise<void> {
  return environment.sleep(Math.min(MAX_PAUSE_MS, 20 * 2 ** attempt) * (0.5 + environment.random()));
}
