import fc from 'fast-check';
import { expect, test } from 'vitest';
import { widthOf } from '../../../adapters/cli/text-width.ts';
import { wrapText } from '../../../adapters/cli/wrap-text.ts';
import { describeProperties, runs } from '../../support/property.ts';

test.each([
  ['', 5, ['']],
  ['one', 5, ['one']],
  ['one two three', 7, ['one two', 'three']],
  ['one two three', 3, ['one', 'two', 'thr', 'ee']],
  ['abcdefgh', 3, ['abc', 'def', 'gh']],
  ['漢字漢字', 4, ['漢字', '漢字']],
  ['漢字', 1, ['漢', '字']],
])('%j on lines of %i', (text, columns, lines) => {
  expect(wrapText(text, columns)).toEqual(lines);
});

describeProperties('any text', () => {
  test('fits, and loses nothing but spaces', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b ', ' ', '漢', '😀', '  ', 'word '), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 12 }), (given, columns) => {
        const lines = wrapText(given, columns);
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
        expect(lines.join('').replaceAll(' ', '')).toBe(given.replaceAll(' ', ''));
      }),
      runs(200),
    );
  });
});
