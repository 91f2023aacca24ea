import type { PGlite } from '@electric-sql/pglite';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { compareJsonbKeys } from '../../../persistence/values/compare-jsonb-keys.ts';
import { normaliseJson } from '../../../persistence/values/normalise-json.ts';
import { normaliseText } from '../../../persistence/values/normalise-text.ts';
import { freshPglite } from '../../support/pglite.ts';
import { describeProperties, runs } from '../../support/property.ts';
import { awkwardJson, awkwardText } from './arbitrary-json.ts';

let pglite: PGlite;

beforeAll(async () => {
  pglite = await freshPglite({ state: 'empty' });
});

async function throughDatabase(type: 'jsonb' | 'text', value: string): Promise<string> {
  const { rows } = await pglite.query<{ value: string }>(`SELECT ($1::text)::${type}::text AS value`, [value]);
  return rows[0]!.value;
}

describeProperties('what the database gives back', () => {
  test('of a normalised value is that value, digit by digit and in the same order of keys', async () => {
    await fc.assert(
      fc.asyncProperty(awkwardJson, async (given) => {
        const stored = JSON.stringify(normaliseJson(given, { maxBytes: 1_000_000, maxDepth: 64, name: 'value' }).value);
        expect(JSON.stringify(JSON.parse(await throughDatabase('jsonb', stored)))).toBe(stored);
      }),
      runs(200),
    );
  });

  test('of a normalised text is that text', async () => {
    await fc.assert(
      fc.asyncProperty(awkwardText, async (given) => {
        const { value } = normaliseText(given, { maxBytes: 10_000, name: 'text' });
        expect(await throughDatabase('text', value)).toBe(value);
      }),
      runs(),
    );
  });

  test('compareJsonbKeys is the order of jsonb', async () => {
    const texts = fc
      .string({ unit: 'binary', maxLength: 3 })
      .filter((key) => key.isWellFormed() && !key.includes('\0'));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(texts, { minLength: 2, maxLength: 12 }), async (keys) => {
        const members = keys.map((key) => `${JSON.stringify(key)}:0`).join(',');
        const { rows } = await pglite.query<{ key: string }>('SELECT key FROM jsonb_each($1::text::jsonb)', [
          `{${members}}`,
        ]);
        expect(rows.map(({ key }) => key)).toEqual([...keys].sort(compareJsonbKeys));
      }),
      runs(),
    );
  });
});
