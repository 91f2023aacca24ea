import { expect, test } from 'vitest';
import { findLockViolations } from '../../scripts/find-lock-violations.ts';

const single = Object.fromEntries(
  ['pg', 'kysely', 'vite', '@mikro-orm/core', 'xstate', 'zod'].map((name) => [`node_modules/${name}`, {}]),
);

test('a sound lock passes', () => {
  expect(findLockViolations({ packages: single })).toEqual([]);
});

test('a registry host is found', () => {
  const packages = { ...single, 'node_modules/pg': { resolved: 'https://example.com/pg.tgz' } };
  expect(findLockViolations({ packages })).toEqual([expect.stringContaining('node_modules/pg is resolved to')]);
});

test('a second copy is found', () => {
  const packages = { ...single, 'node_modules/x/node_modules/kysely': {} };
  expect(findLockViolations({ packages })).toEqual(['package-lock.json: 2 copies of kysely, wanted one']);
});
