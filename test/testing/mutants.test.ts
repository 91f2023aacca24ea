import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { codeGuards } from '../invariants/code/code-guards.ts';
import { BEHIND_ONE_CONNECTION, mutants } from './mutants/mutants.ts';

const names = codeGuards.map(({ name }) => name);

test('every guard of the code is found by the kit, or said to be out of its reach', () => {
  const known = [...mutants.map(({ guard }) => guard), ...BEHIND_ONE_CONNECTION];
  expect(known.toSorted()).toEqual(names.toSorted());
});

test('docs/invariants.md lists the guards that the kit finds, each with the promise that is seen broken', () => {
  const [, section = ''] = readFileSync('docs/invariants.md', 'utf8').split('## What the kit finds');
  const rows = [...section.matchAll(/^\| `(.+?)` \| (.+) \|$/gm)].map(([, guard, breaks]) => ({ guard, breaks }));
  expect(rows).toEqual(mutants.map(({ guard, breaks }) => ({ guard, breaks })));
});
