import fc from 'fast-check';
import { describe } from 'vitest';

/** The run's seed (TURNLOCK_SEED, else random): the same seed explores the same values. */
export const seed = Number(process.env.TURNLOCK_SEED ?? 1);

/** Milliseconds that each property may run on when fuzzing; absent or 0 means an ordinary run. */
const fuzzMs = Number(process.env.TURNLOCK_FUZZ_MS ?? 0);

/** Multiplies the number of runs of every property; default 1. */
const factor = Number(process.env.TURNLOCK_RUNS_FACTOR ?? 1);

/** A suite of properties; its title shows the seed that repeats it. */
export function describeProperties(name: string, suite: () => void): void {
  describe(`${name} (TURNLOCK_SEED=${seed})`, suite);
}

/**
 * The parameters of `fc.assert` for a property that is worth this many runs (default 100). Fuzzing replaces the number by
 * the time budget. Pass this and never a bare `numRuns`, which would hold the fuzzer back.
 */
export function runs(count = 100): { numRuns: number } {
  return { numRuns: fuzzMs > 0 ? Number.MAX_SAFE_INTEGER : Math.ceil(count * factor) };
}

/** Sets what every property shares. A failure prints seed, path and the shrunk counterexample. */
export function setPropertyDefaults(): void {
  fc.configureGlobal({
    seed,
    ...runs(),
    ...(fuzzMs > 0 ? { interruptAfterTimeLimit: fuzzMs, markInterruptAsFailure: false } : {}),
    includeErrorInReport: true,
  });
}
