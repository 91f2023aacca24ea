import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { TurnlockError } from '../../../errors.ts';
import { normaliseJson } from '../../../persistence/values/normalise-json.ts';
import { type OutputPlaceholder, placeholderFor } from '../../../persistence/values/placeholder.ts';
import { refusalOf } from './refusal-of.ts';

const bounds = { maxBytes: 100, maxDepth: 4, name: 'output' };

function placeholderOf(output: unknown): OutputPlaceholder {
  const placeholder = placeholderFor(
    output,
    refusalOf(() => normaliseJson(output, bounds)),
  );
  expect(normaliseJson(placeholder, { ...bounds, maxBytes: 4_000 }).value).toEqual(placeholder);
  return placeholder as unknown as OutputPlaceholder;
}

function sha256(content: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

describe('C26 C36 placeholderFor', () => {
  test('an output that is too large: size and digest of its canonical JSON', () => {
    expect(placeholderOf({ b: 'x'.repeat(100), a: 1 })).toEqual({
      notStored: true,
      says: 'The call succeeded, but its output could not be stored. Reason: value is too large: /output (found more than 100 bytes, wanted at most 100).',
      reason: 'VALUE_TOO_LARGE',
      kind: 'an object',
      sizeBytes: 114,
      digest: sha256(`{"a":1,"b":"${'x'.repeat(100)}"}`),
    });
  });

  test('the digest does not depend on the order of keys', () => {
    const long = 'x'.repeat(100);
    expect(placeholderOf({ a: 1, b: long }).digest).toBe(placeholderOf({ b: long, a: 1 }).digest);
  });

  test('an output that is too deep has size and digest too', () => {
    expect(placeholderOf([[[[[1]]]]])).toMatchObject({
      reason: 'VALUE_TOO_LARGE',
      sizeBytes: 11,
      digest: sha256('[[[[[1]]]]]'),
    });
  });

  test('binary: size and digest of the bytes', () => {
    const expected = { reason: 'VALUE_INVALID', sizeBytes: 3, digest: sha256('abc') };
    expect(placeholderOf(Buffer.from('abc'))).toMatchObject({ ...expected, kind: 'a Buffer' });
    expect(placeholderOf(new Uint8Array(Buffer.from('xabcx')).subarray(1, 4))).toMatchObject(expected);
    expect(placeholderOf(new Uint8Array(Buffer.from('abc')).buffer)).toMatchObject({
      ...expected,
      kind: 'an ArrayBuffer',
    });
  });

  test.each<[unknown, string]>([
    [new Map([[1, 2]]), 'a Map'],
    [{ at: new Date(0) }, 'an object'],
    [10n, 'a BigInt'],
    [() => 1, 'a function'],
    [Number.NaN, 'NaN'],
  ])('what cannot be measured says so: %s', (output, kind) => {
    expect(placeholderOf(output)).toMatchObject({ reason: 'VALUE_INVALID', kind, sizeBytes: null, digest: null });
  });

  test('holds where it failed and nothing of the value', () => {
    const placeholder = placeholderOf({ card: '4242', at: new Date() });
    expect(placeholder.says).toContain('/output/at (found a Date');
    expect(JSON.stringify(placeholder)).not.toContain('4242');
  });

  test('an output that would take long to measure has no size and no digest', () => {
    const wide = { ...bounds, maxBytes: 100 };
    const output = Array.from({ length: 300_000 }, () => 0);
    const refusal = refusalOf(() => normaliseJson(output, wide));
    expect(placeholderFor(output, refusal)).toMatchObject({ sizeBytes: null, digest: null, kind: 'an array' });
  });

  test('is the same each time', () => {
    const output = { a: 'x'.repeat(200) };
    expect(placeholderOf(output)).toEqual(placeholderOf(structuredClone(output)));
  });

  test('a refusal that is not ours is not quoted', () => {
    expect(placeholderFor(1n, new Error('secret'))).toMatchObject({
      says: 'The call succeeded, but its output could not be stored.',
      reason: 'VALUE_INVALID',
    });
    const late = new TurnlockError('TOOL_FAILED', { message: 'output does not fit its schema' });
    expect(placeholderFor({}, late)).toMatchObject({ reason: 'TOOL_FAILED' });
  });
});
