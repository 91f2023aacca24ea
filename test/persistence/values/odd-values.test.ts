import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normaliseError } from '../../../persistence/values/normalise-error.ts';
import { normaliseJson } from '../../../persistence/values/normalise-json.ts';
import { normaliseText } from '../../../persistence/values/normalise-text.ts';
import { placeholderFor } from '../../../persistence/values/placeholder.ts';
import { ODD_TEXTS } from '../../support/odd-texts.ts';
import { ODD_VALUES, type OddValue, oddValue, REFUSED, STORED_VALUES } from '../../support/odd-values.ts';
import { describeProperties, runs } from '../../support/property.ts';
import { refusalOf } from './refusal-of.ts';

const bounds = { maxBytes: 1_000_000, maxDepth: 64, name: 'value' };

/** Asserts that `value` meets its fate. */
function expectFate({ make, fate }: OddValue): void {
  if (fate.is === 'stored') {
    const { value, notes } = normaliseJson(make(), bounds);
    expect(isDeepStrictEqual(value, JSON.parse(JSON.stringify(fate.stored)))).toBe(true);
    expect(notes.toSorted()).toEqual(fate.paths.map((path) => `/value${path}`).toSorted());
    return;
  }
  const { code, details } = refusalOf(() => normaliseJson(make(), bounds));
  const places = fate.at.map(({ code, path }) => [
    code,
    path === null ? expect.stringMatching('^/value') : `/value${path}`,
  ]);
  expect(places).toContainEqual([code, details.path]);
}

describe('C34 C35 C36 the fate of every odd value', () => {
  test.each(ODD_VALUES)('$name', expectFate);

  test('nothing that JSON holds is refused, and every kind of refusal is there', () => {
    for (const { make } of STORED_VALUES) expect(() => JSON.stringify(make())).not.toThrow();
    expect(REFUSED.length).toBeGreaterThan(40);
  });

  test.each(ODD_TEXTS)('$name as text', ({ given, stored }) => {
    expect(normaliseText(given, { maxBytes: 1_000_000, name: 'text' })).toEqual({
      value: stored,
      notes: given === stored ? [] : ['/text'],
    });
  });
});

describe('C36 nothing of an odd value breaks out', () => {
  test.each(ODD_VALUES)('$name as what is thrown, and as the message, code and cause of an error', ({ make }) => {
    const thrown = [make(), Object.assign(new Error(), { message: make(), code: make(), cause: make() })];
    for (const value of thrown) {
      const { message, code = '' } = normaliseError(value);
      expect(message).not.toBe('');
      expect(message.isWellFormed() && !message.includes('\0')).toBe(true);
      expect(code.length).toBeLessThanOrEqual(64);
    }
  });

  test.each(REFUSED)('$name as an output: a placeholder that says what it was', ({ make, fate }) => {
    const output = make();
    const refusal = refusalOf(() => normaliseJson(output, bounds));
    const placeholder = placeholderFor(output, refusal);
    expect(placeholder).toMatchObject({ notStored: true, reason: fate.at[0]!.code, kind: expect.any(String) });
    expect(normaliseJson(placeholder, bounds)).toMatchObject({ value: placeholder, notes: [] });
    expect(JSON.stringify(placeholder)).not.toContain('secret');
  });
});

describeProperties('C34 C35 C36 odd values within odd values', () => {
  test('meet their fate', () => {
    fc.assert(fc.property(oddValue, expectFate), runs(300));
  });
});
