import { expect, test } from 'vitest';
import { formatTable } from '../../../adapters/cli/format-table.ts';
import { formatClock, formatDuration, formatTime } from '../../../adapters/cli/format-time.ts';
import { shorten, widthOf } from '../../../adapters/cli/text-width.ts';

test.each([
  [-5, '0 s'],
  [999, '0 s'],
  [1_000, '1 s'],
  [60_000, '1 min'],
  [125_000, '2 min 5 s'],
  [3_600_000, '1 h'],
  [3_605_000, '1 h'],
  [90_061_000, '1 d 1 h'],
])('%d ms is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('times are UTC with milliseconds', () => {
  const time = new Date('2026-11-29T17:20:13.007Z');
  expect([formatTime(time), formatClock(time)]).toEqual(['2026-11-29 17:20:13.007Z', '17:20:13.007']);
});

test('wide characters take two columns, marks and joiners none', () => {
  expect([widthOf('abc'), widthOf('漢字'), widthOf('e\u0301'), widthOf('👍')]).toEqual([3, 4, 1, 2]);
});

test('what is too long is cut at whole characters', () => {
  expect([shorten('abcdef', 6), shorten('abcdef', 5), shorten('漢字漢字', 6)]).toEqual(['abcdef', 'abcd…', '漢字…']);
});

test('columns of a table are aligned, the last one is not padded', () => {
  const rows = [
    { name: '漢字', state: 'IDLE' },
    { name: 'a-long-name', state: 'FAILED' },
  ];
  const lines = formatTable(
    rows,
    [
      { title: 'NAME', text: ({ name }) => name, maxWidth: 6, style: (text) => `<${text}>` },
      { title: 'STATE', text: ({ state }) => state },
    ],
    (title) => title,
  );
  expect(lines).toEqual(['NAME    STATE', '<漢字  >  IDLE', '<a-lon…>  FAILED']);
});
