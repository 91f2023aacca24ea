import { expect, test } from 'vitest';
import { checkToolPolicy } from '../../testing/check-tool-policy.ts';
import { allEntries } from './gallery/all-entries.ts';

/** The short form of `npm run kit:gallery`: some of what is wrong with tools, at one seed, and what is right beside it. */
const WRONG = [
  'acts-then-validates',
  'cached-balance',
  'idempotent-without-a-key',
  'lost-update',
  'key-of-the-session',
];
const RIGHT = ['idempotent-by-key', 'approval-of-the-sum', 'reconciled-by-reference'];

const toolsOf = (names: readonly string[]) =>
  allEntries.flatMap((entry) => (entry.kind === 'tools' && names.includes(entry.name) ? [entry] : []));

test.each(toolsOf(WRONG))('$name is found: $title', async ({ check }) => {
  const { failure } = await checkToolPolicy({ ...check, seed: 1, numRuns: 200 });
  expect(failure).not.toBeNull();
  expect(failure?.commands.length).toBeLessThanOrEqual(6);
});

test.each(toolsOf(RIGHT))('in $name nothing is found: $title', async ({ check }) => {
  const { failure } = await checkToolPolicy({ ...check, seed: 1, numRuns: 10 });
  expect(failure?.text).toBeUndefined();
});
