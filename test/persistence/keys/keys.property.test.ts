import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from '../../../persistence/keys/canonical-json.ts';
import { lockKey } from '../../../persistence/keys/lock-key.ts';
import { paramsDigest } from '../../../persistence/keys/params-digest.ts';
import { turnIdempotencyKey } from '../../../persistence/keys/turn-idempotency-key.ts';
import { normaliseJson } from '../../../persistence/values/normalise-json.ts';
import { describeProperties, runs } from '../../support/property.ts';
import { awkwardJson } from '../values/arbitrary-json.ts';

const bounds = { maxBytes: 1_000_000, maxDepth: 64, name: 'params' };
const normalised = awkwardJson.map((given) => normaliseJson(given, bounds).value);

/** The same value with the keys of every object the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, part]) => [key, reversed(part)]),
  );
}

/** Two lists of parts of a key; the second often is the first with characters moved from one part to the next. */
const twoKeys = fc
  .tuple(
    fc.string({ maxLength: 6 }),
    fc.nat({ max: 30 }),
    fc.string({ maxLength: 6 }),
    fc.string({ maxLength: 6 }),
    fc.nat({ max: 6 }),
  )
  .chain(([sessionId, turnIndex, toolName, digest, moved]) => {
    const shifted = {
      sessionId: sessionId.slice(0, moved),
      turnIndex,
      toolName: sessionId.slice(moved) + toolName.slice(0, moved),
      digest: toolName.slice(moved) + digest,
    };
    return fc.tuple(
      fc.constant({ sessionId, turnIndex, toolName, digest }),
      fc.constantFrom(shifted, { sessionId: sessionId + String(turnIndex), turnIndex, toolName, digest }),
    );
  });

describeProperties('keys', () => {
  test('C40 the digest does not depend on the order of keys', () => {
    fc.assert(
      fc.property(normalised, (params) => {
        expect(paramsDigest(reversed(params))).toBe(paramsDigest(params));
      }),
      runs(200),
    );
  });

  test('C40 the digest of what was read back is the digest of what was stored', () => {
    fc.assert(
      fc.property(normalised, (params) => {
        expect(paramsDigest(JSON.parse(JSON.stringify(params)))).toBe(paramsDigest(params));
      }),
      runs(200),
    );
  });

  test('the canonical text is JSON of the same value', () => {
    fc.assert(
      fc.property(normalised, (params) => {
        expect(JSON.parse(canonicalJson(params))).toEqual(params);
      }),
      runs(200),
    );
  });

  test('two values with one digest are one value', () => {
    fc.assert(
      fc.property(normalised, normalised, (one, other) => {
        const isSame = canonicalJson(one) === canonicalJson(other);
        expect(paramsDigest(one) === paramsDigest(other)).toBe(isSame);
      }),
      runs(200),
    );
  });

  test('C41 parts of a key do not run together', () => {
    fc.assert(
      fc.property(twoKeys, ([one, other]) => {
        const isSame =
          one.sessionId.toLowerCase() === other.sessionId.toLowerCase() &&
          one.toolName === other.toolName &&
          one.digest === other.digest;
        expect(turnIdempotencyKey(one) === turnIdempotencyKey(other)).toBe(isSame);
      }),
      runs(500),
    );
  });

  test('a lock’s key fits a bigint', () => {
    fc.assert(
      fc.property(fc.uuid(), (sessionId) => {
        const key = lockKey(sessionId);
        expect(BigInt.asIntN(64, BigInt(key)).toString()).toBe(key);
      }),
      runs(200),
    );
  });
});
