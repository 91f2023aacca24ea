import { expect, test } from 'vitest';
import { checkPolicy } from '../../testing/check-policy.ts';
import { allEntries } from './gallery/all-entries.ts';

const policies = allEntries.flatMap((entry) => (entry.kind === 'policy' ? [entry] : []));
const wrong = policies.filter(({ mistake }) => mistake !== undefined);
const right = policies.filter(({ mistake }) => mistake === undefined);
const SEEDS = [1, 2, 3, 4, 5];

test.each(wrong)('$name is found at every seed: $title', async ({ check }) => {
  for (const seed of SEEDS) {
    const { failure } = await checkPolicy({ ...check, seed, numRuns: 200 });
    expect(failure).not.toBeNull();
    expect(failure?.commands.length).toBeLessThanOrEqual(6);
  }
});

test.each(right)('in $name nothing is found: $title', async ({ check }) => {
  const { failure } = await checkPolicy({ ...check, seed: 1, numRuns: 2_000 });
  expect(failure?.text).toBeUndefined();
});
