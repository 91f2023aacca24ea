import { expect, test } from 'vitest';
import { freshPglite } from '../support/pglite.ts';

test('a fresh instance answers, and two are separate', async () => {
  const [one, other] = [await freshPglite(), await freshPglite()];
  await one.exec('CREATE TABLE mark (text text)');
  const { rows } = await other.query(`SELECT to_regclass('mark') AS mark`);
  expect(rows).toEqual([{ mark: null }]);
});
