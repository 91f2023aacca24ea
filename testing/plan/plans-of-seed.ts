import fc from 'fast-check';
import type { Plan } from './plan.ts';
import { type PlanSpace, planArbitrary } from './plan-arbitrary.ts';
import { sweepArbitrary } from './sweep-arbitrary.ts';

/**
 * The plans of a seed, one for each run: every second one is a simple schedule with at most one fault, each of them in its turn, and the others
 * are of any kind. So a few dozen runs have met every single fault where a tool acts, whatever the seed.
 */
export function* plansOfSeed(space: PlanSpace, { numRuns, seed }: { numRuns: number; seed: number }): Generator<Plan> {
  const any = fc.sample(planArbitrary(space), { numRuns: Math.ceil(numRuns / 2), seed });
  const simple = fc.sample(sweepArbitrary(space), { numRuns: Math.ceil(numRuns / 2), seed });
  for (let run = 0; run < numRuns; run += 1) {
    const half = Math.floor(run / 2);
    const plan = run % 2 === 0 ? any[half] : simple[half]?.(half);
    if (plan !== undefined) yield plan;
  }
}
