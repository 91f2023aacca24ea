import { setImmediate as turn } from 'node:timers/promises';
import { systemEnvironment } from '../../environment.ts';
import { Finding } from './contract-broken.ts';

/** Milliseconds for which a case waits for what must come soon. An adapter that keeps its promises is never near it. */
export const PATIENCE_MS = 10_000;

/** How `work` ended. @throws Finding where it has not ended after `patienceMs`. */
export async function endOf<Result>(
  work: Promise<Result>,
  { patienceMs, what }: { patienceMs: number; what: string },
): Promise<PromiseSettledResult<Result>> {
  const over = new AbortController();
  const late = systemEnvironment.sleep(patienceMs, over.signal).then(
    () => null,
    () => null,
  );
  try {
    const [first] = await Promise.race([Promise.allSettled([work]), late.then(() => [null])]);
    if (first === null || first === undefined) throw new Finding(`no end of ${what} after ${patienceMs} ms`);
    return first;
  } finally {
    over.abort();
  }
}

/** Resolves once `holds` says so. @throws Finding where it does not within `patienceMs`. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  { patienceMs, what, everyMs = 5 }: { patienceMs: number; what: string; everyMs?: number },
): Promise<void> {
  const end = systemEnvironment.monotonic() + patienceMs;
  while (!(await holds())) {
    if (systemEnvironment.monotonic() >= end) throw new Finding(`no ${what} after ${patienceMs} ms`);
    await systemEnvironment.sleep(everyMs);
  }
}

/** The reasons of what was rejected and not handled, in this process, while `work` went on and in the turns after it. */
export async function unhandledDuring(work: () => Promise<unknown>): Promise<unknown[]> {
  const reasons: unknown[] = [];
  const note = (reason: unknown) => void reasons.push(reason);
  process.on('unhandledRejection', note);
  try {
    await work();
    for (let turns = 0; turns < 10; turns += 1) await turn();
  } finally {
    process.off('unhandledRejection', note);
  }
  return reasons;
}
