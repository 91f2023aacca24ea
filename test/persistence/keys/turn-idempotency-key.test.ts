import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { paramsDigest } from '../../../persistence/keys/params-digest.ts';
import { type TurnKeyParts, turnIdempotencyKey } from '../../../persistence/keys/turn-idempotency-key.ts';
import { normaliseJson } from '../../../persistence/values/normalise-json.ts';

const parts: TurnKeyParts = {
  sessionId: '0190b2a4-5f6e-7c3d-8a9b-0c1d2e3f4a5b',
  turnIndex: 3,
  toolName: 'refund',
  digest: paramsDigest({ orderId: 42 }),
};

const digestOf = (json: string) =>
  paramsDigest(normaliseJson(JSON.parse(json), { maxBytes: 1_000, maxDepth: 9, name: 'params' }).value);

describe('turnIdempotencyKey', () => {
  test('is the documented derivation: a change of it would turn old keys into new ones', () => {
    const array = `["turn","${parts.sessionId}",3,"refund","${createHash('sha256').update('{"orderId":42}').digest('hex')}"]`;
    expect(turnIdempotencyKey(parts)).toBe(`tl1_${createHash('sha256').update(array).digest('hex')}`);
    expect(turnIdempotencyKey(parts)).toBe('tl1_8c7a5d23d7027de1bf6b900e68345610aff71d67d20653306e01c4538d7c5c89');
    expect(turnIdempotencyKey({ ...parts, ordinal: 0 })).toBe(
      'tl1_9c76abad59e450706f346810514c776ed6b064b294eb9fdcc6b220a9f0ed505f',
    );
  });

  test('fits its column and what receivers take', () => {
    expect(turnIdempotencyKey(parts)).toMatch(/^[a-z0-9_]{68}$/);
  });

  test('does not depend on how the session id is written', () => {
    expect(turnIdempotencyKey({ ...parts, sessionId: parts.sessionId.toUpperCase() })).toBe(turnIdempotencyKey(parts));
  });

  test.each<Partial<TurnKeyParts>>([
    { sessionId: '0190b2a4-5f6e-7c3d-8a9b-0c1d2e3f4a5c' },
    { turnIndex: 4 },
    { toolName: 'refunds' },
    { toolName: 'Refund' },
    { digest: paramsDigest({ orderId: 43 }) },
    { ordinal: 0 },
    { ordinal: 1 },
  ])('%j makes another key', (change) => {
    expect(turnIdempotencyKey({ ...parts, ...change })).not.toBe(turnIdempotencyKey(parts));
  });

  test('C41 inputs do not run together', () => {
    const key = (change: Partial<TurnKeyParts>) => turnIdempotencyKey({ ...parts, ...change });
    const keys = [
      key({ sessionId: 's1', turnIndex: 1 }),
      key({ sessionId: 's', turnIndex: 11 }),
      key({ sessionId: 's', turnIndex: 1, toolName: '1refund' }),
      key({ toolName: 'a","b', digest: 'c' }),
      key({ toolName: 'a', digest: 'b","c' }),
      key({ toolName: 'a:b', digest: 'c' }),
      key({ toolName: 'a', digest: 'b:c' }),
      key({ digest: 'c', ordinal: 1 }),
      key({ digest: 'c",1' }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('paramsDigest', () => {
  test.each<[string, string, string]>([
    ['order of keys', '{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['order of keys, nested', '{"x":[{"a":1,"b":{"c":2,"d":3}}]}', '{"x":[{"b":{"d":3,"c":2},"a":1}]}'],
    ['1 and 1.0', '{"n":1}', '{"n":1.0}'],
    ['1 and 1e0', '{"n":1}', '{"n":1e0}'],
    ['0 and -0', '{"n":0}', '{"n":-0}'],
    ['a number and its other spelling', '{"n":100}', '{"n":1E+2}'],
    ['white space', '{"a":1}', '{ "a" : 1 }'],
    ['a character and its escape', '{"a":"é"}', '{"a":"\\u00e9"}'],
  ])('C40 is the same for %s', (_what, one, other) => {
    expect(digestOf(one)).toBe(digestOf(other));
  });

  test.each<[string, string, string]>([
    ['C40 "1" and 1', '{"n":"1"}', '{"n":1}'],
    ['null and absent', '{"a":null}', '{}'],
    ['order of elements', '[1,2]', '[2,1]'],
    ['true and "true"', '[true]', '["true"]'],
    ['an array and an object', '{"0":1}', '[1]'],
    ['nesting', '[[1],2]', '[1,[2]]'],
    ['C44 a composed and a decomposed "é"', '{"name":"\\u00e9"}', '{"name":"e\\u0301"}'],
    ['C44 in a key', '{"\\u00e9":1}', '{"e\\u0301":1}'],
    ['neighbouring doubles', '[0.1]', '[0.10000000000000002]'],
    ['text with U+FFFD and without', '["\\ufffd"]', '[""]'],
  ])('differs for %s', (_what, one, other) => {
    expect(digestOf(one)).not.toBe(digestOf(other));
  });

  test('is SHA-256 of the canonical text', () => {
    expect(paramsDigest({})).toBe(createHash('sha256').update('{}').digest('hex'));
  });
});
