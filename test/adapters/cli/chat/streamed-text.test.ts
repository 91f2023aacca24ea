import { expect, test } from 'vitest';
import { StreamedText } from '../../../../adapters/cli/chat/streamed-text.ts';

function stream(pieces: readonly string[]): string {
  const text = new StreamedText();
  return pieces.map((piece) => text.push(piece)).join('') + text.end();
}

test('an escape sequence that comes in pieces does not get through', () => {
  expect(stream(['all \u001b', '[31', 'mred\u001b', ']0;title\u0007'])).toBe(
    'all \\u001b[31mred\\u001b]0;title\\u0007',
  );
});

test('a character of two units that comes in halves is whole, and a tag character is escaped', () => {
  expect(stream(['\ud83d', '\ude00'])).toBe('\u{1f600}');
  expect(stream(['\udb40', '\udc41'])).toBe('\\udb40\\udc41');
  expect(stream(['\ud83d'])).toBe('\\ud83d');
});

test('ends of lines and tabulators stay, a carriage return does not', () => {
  expect(stream(['a\r', '\nb\tc\r', 'd\r'])).toBe('a\nb    c\\rd\\r');
});
