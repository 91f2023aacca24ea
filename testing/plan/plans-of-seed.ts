import fc from 'fast-check';
import type { Plan } from './plan.ts';
import { type PlanSpace, planArbitrary } from './plan-arbitrary.ts';
import { sweepArbitrary } from './sweep-arbitrary.ts';

/**
 * The plans of a seed, one for each run: every second one is a simple schedule with at most one fault, each of them in its turn, and the others
 * are of any kind. So a few dozen runs have met every single fault where a tool acts, whatever the seed.
 */
export function* plansOfSeed(space: PlanSpace, { numRuns, seed }: { numRuns: number; seed: number }): Generator<Plan> {
  const halves = { count: Math.ceil(numRuns / 2), seed };
  const any = samples(planArbitrary(space), halves);
  const simple = samples(sweepArbitrary(space), halves);
  for (let run = 0; run < numRuns; run += 1) {
    const plan = run % 2 === 0 ? any.next().value : simple.next().value?.(Math.floor(run / 2));
    if (plan !== undefined) yield plan;
  }
}

/** So many are made at first, and twice as many each time that more are wanted: most checks that find something find it early. */
const FIRST_SAMPLES = 64;

/** What `fc.sample` gives, made as it is asked for. */
function* samples<Value>(
  arbitrary: fc.Arbitrary<Value>,
  { count, seed }: { count: number; seed: number },
): Generator<Value, undefined> {
  let given = 0;
  for (let size = FIRST_SAMPLES; given < count; size *= 2) {
    yield* fc.sample(arbitrary, { numRuns: Math.min(size, count), seed }).slice(given);
    given = size;
  }
}
