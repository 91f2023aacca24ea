import { describe, expect, test } from 'vitest';
import { checkEmbedder, checkEmbeddings, MAX_DIMENSIONS } from '../../../adapters/embedders/embedder.contract.ts';

const wanted = { modelId: 'm', dimensions: 2, count: 2 };

describe('what an embedder returned', () => {
  test.each<[string, unknown]>([
    [
      'vectors of any length but 0',
      [
        [3, 4],
        [0, -1],
      ],
    ],
    [
      'numbers that are small',
      [
        [1e-15, 0],
        [1, 1],
      ],
    ],
  ])('passes: %s', (_, embeddings) => {
    expect(() => checkEmbeddings(embeddings, wanted)).not.toThrow();
  });

  test('passes for no text: no vector', () => {
    expect(() => checkEmbeddings([], { ...wanted, count: 0 })).not.toThrow();
  });

  test.each<[string, unknown]>([
    ['no list', undefined],
    ['no list', { length: 2 }],
    ['1 vectors', [[1, 2]]],
    [
      '3 vectors',
      [
        [1, 2],
        [1, 2],
        [1, 2],
      ],
    ],
    ['a vector that is no list', [[1, 2], '12']],
    [
      'a vector of 3',
      [
        [1, 2],
        [1, 2, 3],
      ],
    ],
    [
      'a number that is not finite',
      [
        [1, 2],
        [1, Number.NaN],
      ],
    ],
    [
      'a number that is not finite',
      [
        [1, 2],
        [Number.POSITIVE_INFINITY, 1],
      ],
    ],
    [
      'a number that is not finite',
      [
        [1, 2],
        ['1', 2],
      ],
    ],
    [
      'a number that is not finite',
      [
        [1, 2],
        [null, 2],
      ],
    ],
    ['a number that is not finite', [[1, 2], Object.assign(Array(2), { 0: 1 })]],
    [
      'a vector of length 0',
      [
        [1, 2],
        [0, -0],
      ],
    ],
    [
      'a vector of length 0',
      [
        [1, 2],
        [1e-30, 0],
      ],
    ],
    [
      'a vector too long for 4-byte floats',
      [
        [1, 2],
        [1e20, 0],
      ],
    ],
  ])('is refused: %s', (found, embeddings) => {
    expect(() => checkEmbeddings(embeddings, wanted)).toThrow(
      expect.objectContaining({
        code: 'EMBEDDING_FAILED',
        retryable: false,
        message: `embeddings not accepted: m (found ${found}, wanted 2 vectors of 2 numbers).`,
      }),
    );
  });
});

describe('an embedder', () => {
  const embedder = { modelId: 'm', dimensions: 2, embed: async () => [] };

  test.each([{}, { maxBatch: 1 }, { dimensions: MAX_DIMENSIONS }, { modelId: '𝔪'.repeat(64) }])(
    'with %o passes',
    (more) => {
      expect(() => checkEmbedder({ ...embedder, ...more })).not.toThrow();
    },
  );

  test.each<[string, unknown]>([
    ['embedder', null],
    ['embedder', 'text-embedding'],
    ['modelId', { ...embedder, modelId: '' }],
    ['modelId', { ...embedder, modelId: 'm'.repeat(65) }],
    ['modelId', { ...embedder, modelId: 7 }],
    ['dimensions', { ...embedder, dimensions: 0 }],
    ['dimensions', { ...embedder, dimensions: 1.5 }],
    ['dimensions', { ...embedder, dimensions: MAX_DIMENSIONS + 1 }],
    ['dimensions', { ...embedder, dimensions: '256' }],
    ['maxBatch', { ...embedder, maxBatch: 0 }],
    ['maxBatch', { ...embedder, maxBatch: Number.POSITIVE_INFINITY }],
    ['embed', { ...embedder, embed: undefined }],
  ])('is refused for its %s: %o', (option, given) => {
    expect(() => checkEmbedder(given)).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID', message: expect.stringContaining(option) }),
    );
  });
});
