import { describe, expect, test } from 'vitest';
import { normaliseText } from '../../../persistence/values/normalise-text.ts';
import { refusalOf } from './refusal-of.ts';

const bounds = { maxBytes: 1_000, name: 'message' };

describe('normaliseText', () => {
  test('C34 U+0000 is replaced and noted', () => {
    expect(normaliseText('a\u0000b', bounds)).toEqual({ value: 'a\uFFFDb', notes: ['/message'] });
  });

  test.each([
    ['a high half at the end', 'x\ud83d', 'x\uFFFD'],
    ['a low half at the start', '\ude00x', '\uFFFDx'],
    ['halves in the wrong order', '\ude00\ud83d', '\uFFFD\uFFFD'],
    ['halves that U+0000 parts', '\ud83d\u0000\ude00', '\uFFFD\uFFFD\uFFFD'],
  ])('C35 %s is replaced and noted', (_what, given, value) => {
    expect(normaliseText(given, bounds)).toEqual({ value, notes: ['/message'] });
  });

  test.each([
    ['a whole emoji', '😀'],
    ['an emoji of several code points', '👩‍🚀'],
    ['the six characters \\u0000', '\\u0000'],
    ['U+FFFD itself', '\uFFFD'],
    ['a composed and a decomposed letter', 'é e\u0301'],
    ['other control characters', '\u0001\u001f\u007f\r\n\t'],
    ['a byte order mark', '\uFEFFx'],
    ['no text at all', ''],
  ])('C35 %s is untouched', (_what, text) => {
    expect(normaliseText(text, bounds)).toEqual({ value: text, notes: [] });
  });

  test('counts bytes of UTF-8, inclusive, after replacement', () => {
    expect(normaliseText('éé', { maxBytes: 4, name: 'message' }).value).toBe('éé');
    expect(refusalOf(() => normaliseText('éé', { maxBytes: 3, name: 'message' }))).toMatchObject({
      code: 'VALUE_TOO_LARGE',
      message: 'value is too large: /message (found more than 3 bytes, wanted at most 3).',
      details: { path: '/message', limit: 3, unit: 'bytes' },
    });
    expect(refusalOf(() => normaliseText('\0', { maxBytes: 2, name: 'message' })).code).toBe('VALUE_TOO_LARGE');
  });

  test.each([[undefined], [null], [7], [{}], [Object('text')]])('refuses %s, which is no text', (value) => {
    expect(refusalOf(() => normaliseText(value as string, bounds)).code).toBe('VALUE_INVALID');
  });

  test('cuts long text where that is wanted, and says so', () => {
    const { value, notes } = normaliseText('x'.repeat(500), { maxBytes: 100, name: 'raw' }, 'truncate');
    expect(value).toBe(`${'x'.repeat(49)}… [cut: 500 bytes, of which at most 100 are kept]`);
    expect(Buffer.byteLength(value)).toBeLessThanOrEqual(100);
    expect(notes).toEqual([]);
  });

  test('never cuts a character in two', () => {
    for (let maxBytes = 0; maxBytes < 120; maxBytes += 1) {
      const { value } = normaliseText('😀é'.repeat(100), { maxBytes, name: 'raw' }, 'truncate');
      expect(value.isWellFormed()).toBe(true);
      expect(value).not.toContain('\uFFFD');
      expect(Buffer.byteLength(value)).toBeLessThanOrEqual(maxBytes);
    }
  });
});
