import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PROMISE_NAMES } from '../../testing/invariants/promise-names.ts';

test('docs/invariants.md lists the promises that are held against every run', () => {
  const [, section = ''] = readFileSync('docs/invariants.md', 'utf8').split('## The promises of a system at rest');
  const listed = [...section.matchAll(/^- (.+)$/gm)].map(([, name]) => name);
  expect(listed).toEqual(Object.values(PROMISE_NAMES));
});
