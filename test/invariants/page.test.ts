import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { codeGuards } from './code/code-guards.ts';
import { constraintGuards } from './schema/constraint-guards.ts';
import { rightGuards } from './schema/right-guards.ts';
import { triggerGuards } from './schema/trigger-guards.ts';

const ROW = /^\| `(.+?)` \| (.+) \| \[.+?\]\(\.\.\/(.+?)\) \|$/gm;

const TABLES = {
  'test/invariants/schema/trigger-guards.ts': triggerGuards,
  'test/invariants/schema/constraint-guards.ts': constraintGuards,
  'test/invariants/schema/right-guards.ts': rightGuards,
  'test/invariants/code/code-guards.ts': codeGuards,
};

test('docs/invariants.md lists every guard with what it prevents and where its scenes stand, in order and once', () => {
  const page = readFileSync('docs/invariants.md', 'utf8');
  const rows = [...page.matchAll(ROW)].map(([, name, prevents, file]) => ({ name, prevents, file }));
  const guards = Object.entries(TABLES).flatMap(([file, table]) =>
    table.map(({ name, prevents }) => ({ name, prevents, file })),
  );
  expect(rows).toEqual(guards);
  expect(new Set(guards.map(({ name }) => name)).size).toBe(guards.length);
});
