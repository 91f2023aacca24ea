import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkEmbeddings } from '../../../adapters/embedders/embedder.contract.ts';
import { hashedNgrams } from '../../../adapters/models/scripted.ts';
import { embedderContract } from '../../../testing/contracts/embedder-contract.ts';
import { runs } from '../../support/property.ts';
import { contractTests } from '../../testing/contracts/contract-tests.ts';

const context = { signal: new AbortController().signal, purpose: 'document' } as const;

describe('hashedNgrams', () => {
  contractTests(embedderContract({ make: () => hashedNgrams() }));

  test('a call that was given up rejects with the reason of its signal', async () => {
    const reason = new Error('nobody waits');
    const call = hashedNgrams().embed(['one'], { ...context, signal: AbortSignal.abort(reason) });
    await expect(call).rejects.toBe(reason);
  });

  test('has 256 dimensions, or as many as are asked for', async () => {
    expect(hashedNgrams()).toMatchObject({ modelId: 'hashed-ngrams-1', dimensions: 256 });
    const [vector] = await hashedNgrams({ dimensions: 48 }).embed(['refund'], context);
    expect(vector).toHaveLength(48);
  });

  test.each([15, 2_001, 64.5, '256', Number.NaN, null])('dimensions of %j are refused', (dimensions) => {
    expect(() => hashedNgrams({ dimensions: dimensions as number })).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID', message: expect.stringContaining('hashedNgrams') }),
    );
  });

  test('its vectors do not change: what is stored was made by them', async () => {
    const [vector = []] = await hashedNgrams({ dimensions: 16 }).embed(['Refund order 42, please.'], context);
    expect(vector.map((number) => Number(number.toFixed(6)))).toMatchInlineSnapshot(`
      [
        0.338651,
        0.280654,
        -0.10041,
        0.10041,
        0.10041,
        0.261944,
        -0.032427,
        -0.251958,
        -0.432202,
        -0.10041,
        -0.0817,
        0.324933,
        -0.037421,
        -0.549457,
        0.175251,
        0,
      ]
    `);
  });

  test('any text has a vector of length 1, in every number of dimensions', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.integer({ min: 16, max: 2_000 }), async (text, dimensions) => {
        const embeddings = await hashedNgrams({ dimensions }).embed([text], context);
        checkEmbeddings(embeddings, { modelId: 'm', dimensions, count: 1 });
        expect(likeness(embeddings[0], embeddings[0])).toBeCloseTo(1, 9);
      }),
      runs(),
    );
  });

  test('what shares words or parts of words is nearer than what shares none', async () => {
    const [query, same, misspelt, other] = await hashedNgrams().embed(
      ['refunds for an order', 'The refund of my order', 'refnud of an odrer', 'Vegetarian meals and window seats'],
      context,
    );
    expect(likeness(query, same)).toBeGreaterThan(likeness(query, misspelt));
    expect(likeness(query, misspelt)).toBeGreaterThan(likeness(query, other));
  });

  test('neither case, nor form of the characters, nor punctuation counts', async () => {
    const [one, other] = await hashedNgrams().embed(['Ａ CAFÉ, please!', 'a cafe\u0301 please'], context);
    expect(likeness(one, other)).toBeCloseTo(1, 9);
  });

  test('scripts without spaces meet by their characters', async () => {
    const [query, same, other] = await hashedNgrams().embed(
      ['红色汽车', '我喜欢红色的汽车', '今天的天气很好'],
      context,
    );
    expect(likeness(query, same)).toBeGreaterThan(likeness(query, other) + 0.2);
  });

  test('it knows no meaning', async () => {
    const [car, automobile] = await hashedNgrams().embed(['car', 'automobile'], context);
    expect(Math.abs(likeness(car, automobile))).toBeLessThan(0.3);
  });
});

function likeness(one: readonly number[] = [], other: readonly number[] = []): number {
  return one.reduce((sum, number, index) => sum + number * (other[index] ?? 0), 0);
}
