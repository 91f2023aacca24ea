import { protocol } from '@electric-sql/pglite';
import { beforeAll, expect, test } from 'vitest';
import { PgliteWire } from '../../../adapters/databases/pglite-wire.ts';
import { freshPglite } from '../../support/pglite.ts';

let wire: PgliteWire;

beforeAll(async () => {
  wire = new PgliteWire(await freshPglite({ state: 'empty' }), protocol);
});

test('a text that begins with a byte order mark comes back with it', async () => {
  const { rows } = await wire.send('SELECT $1::text AS "given", chr(65279) AS "made"', ['\uFEFFx\uFEFF']);
  expect(rows).toEqual([{ given: '\uFEFFx\uFEFF', made: '\uFEFF' }]);
});

test('null, nothing and every row of several statements keep their places', async () => {
  const { rows } = await wire.send(`SELECT null AS a, '' AS b, 'c' AS c UNION ALL SELECT 'é', null, '😀'`);
  expect(rows).toEqual([
    { a: null, b: '', c: 'c' },
    { a: 'é', b: null, c: '😀' },
  ]);
  expect((await wire.send(`SELECT 1 AS n; SELECT '2' AS n`)).rows).toEqual([{ n: '2' }]);
});
