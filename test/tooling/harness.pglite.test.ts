import { expect, test } from 'vitest';
import { freshPglite } from '../support/pglite.ts';

test('a fresh instance answers, and two are separate', async () => {
  const [one, other] = [await freshPglite(), await freshPglite()];
  await one.exec('CREATE TABLE mark (text text)');
  const { rows } = await other.query(`SELECT to_regclass('mark') AS mark`);
  expect(rows).toEqual([{ mark: null }]);
});

test.each([
  ['migrated', true],
  ['empty', false],
] as const)('an instance that is %s has the tables: %s', async (state, found) => {
  const pglite = await freshPglite({ state });
  const { rows } = await pglite.query(`SELECT to_regclass('turnlock.agent_sessions') IS NOT NULL AS found`);
  expect(rows).toEqual([{ found }]);
});
