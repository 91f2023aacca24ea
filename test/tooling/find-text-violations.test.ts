import { expect, test } from 'vitest';
import { findTextViolations, MAX_LINES } from '../../scripts/find-text-violations.ts';

function check(path: string, text: string): string[] {
  return findTextViolations(new Map([[path, text]]));
}

// Put together from pieces, so that this file passes the check itself.
test.each([
  ['/wo' + 'rk/main/index.ts', 'machine'],
  ['see /tm' + 'p/notes', 'machine'],
  ['https://regis' + 'try.example.com/turnlock', 'registry'],
  ['TO' + 'DO: later', 'open mark'],
  ['FIX' + 'ME', 'open mark'],
])('%s is found', (text, says) => {
  expect(check('docs/a.md', `first line\n${text}\n`)).toEqual([
    expect.stringMatching(new RegExp(`^docs/a.md:2: .*${says}`)),
  ]);
});

test.each(['https://example.com/wo' + 'rk/a', 'a framework/worker', 'todos'])('%s is harmless', (text) => {
  expect(check('docs/a.md', text)).toEqual([]);
});

test('a long source is found, a long document is not', () => {
  const text = 'x\n'.repeat(MAX_LINES + 1);
  expect(check('runtime/a.ts', text)).toEqual([`runtime/a.ts: ${MAX_LINES + 1} lines, at most ${MAX_LINES}`]);
  expect(check('runtime/a.ts', 'x\n'.repeat(MAX_LINES))).toEqual([]);
  expect(check('docs/a.md', text)).toEqual([]);
});
