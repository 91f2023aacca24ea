import { expect, test } from 'vitest';
import { escapeJson, escapeLines, escapeText } from '../../../adapters/cli/escape-text.ts';

test.each([
  ['plain', 'plain'],
  ['é 漢字 👩‍👩‍👧 नमस्ते', 'é 漢字 👩‍👩‍👧 नमस्ते'],
  ['\u001b[31mred\u001b[0m', String.raw`\u001b[31mred\u001b[0m`],
  ['\u001b]0;title\u0007', String.raw`\u001b]0;title\u0007`],
  ['a\nb\rc\td', String.raw`a\nb\rc\td`],
  ['\u009b31m', String.raw`\u009b31m`],
  ['\u0000\u007f', String.raw`\u0000\u007f`],
  ['user\u202egnp.exe', String.raw`user\u202egnp.exe`],
  ['\u2066\u2069\u200f\ufeff\u2028', String.raw`\u2066\u2069\u200f\ufeff\u2028`],
  ['\ud800', String.raw`\ud800`],
  ['\u{e0041}', String.raw`\udb40\udc41`],
])('C39: %j is harmless as %j', (text, escaped) => {
  expect(escapeText(text)).toBe(escaped);
});

test('C39: lines stay lines, each harmless', () => {
  expect(escapeLines('a\u001b[1m\r\nb\n\u202e')).toEqual([String.raw`a\u001b[1m`, 'b', String.raw`\u202e`]);
});

test('C39: escaped JSON is the same JSON', () => {
  const value = { 'k\u202e': ['\u001b\u009b\u2028\ud800 \u{e0041} "quoted" \\ back', null, 1.5] };
  const text = escapeJson(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(text).not.toMatch(/[\p{Cc}\p{Cs}\u202e\u2028]/u);
});
