import { expect, test } from 'vitest';
import { paramsDigest } from '../../../persistence/keys/params-digest.ts';
import { refusedDigest } from '../../../persistence/keys/refused-digest.ts';

test('it is pinned: rows keep it for life', () => {
  expect(refusedDigest(['raw', '{"a":'])).toBe('f7865c51fcca30a9a58d056c57ae533aed26ef8b6bb5b356ae51e61621a423d5');
});

test('equal arguments are one call, whatever the order of their keys', () => {
  expect(refusedDigest(['input', { a: 1, b: 2 }])).toBe(refusedDigest(['input', { b: 2, a: 1 }]));
  expect(refusedDigest(['input', { a: 1 }])).not.toBe(refusedDigest(['input', { a: '1' }]));
});

test('it is never the digest of params that were validated', () => {
  for (const value of [{}, { $invalid: 'x' }, ['raw', 'x'], 'refused:{}', null]) {
    expect(refusedDigest(value)).not.toBe(paramsDigest(value));
  }
});
