import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainText, StreamedText } from '../../../../adapters/cli/chat/streamed-text.ts';
import { describeProperties, runs } from '../../../support/property.ts';

const NASTY = ['\u001b', '\r', '\n', '\t', '\ud83d', '\ude00', '\udb40', '\udc41', '\u202e'];

describeProperties('text that comes in pieces', () => {
  test('however it is cut, it is shown as if it had come whole, and harmless', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...NASTY), fc.string())), (pieces) => {
        const text = new StreamedText();
        const shown = pieces.map((piece) => text.push(piece)).join('') + text.end();
        expect(shown).toBe(plainText(pieces.join('')));
        expect(shown).not.toMatch(/(?!\n)[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
      }),
      runs(200),
    );
  });
});
