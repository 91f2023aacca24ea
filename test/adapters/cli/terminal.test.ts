import { expect, test } from 'vitest';
import { coloursFor, hasColours } from '../../../adapters/cli/terminal.ts';

const screen = { isTTY: true };
const pipe = {};

test.each([
  ['a terminal', screen, undefined, {}, true],
  ['a pipe', pipe, undefined, {}, false],
  ['--no-color', screen, false, {}, false],
  ['NO_COLOR', screen, true, { NO_COLOR: '1' }, false],
  ['an empty NO_COLOR', screen, true, { NO_COLOR: '' }, true],
  ['a dumb terminal', screen, true, { TERM: 'dumb' }, false],
  ['FORCE_COLOR on a pipe', pipe, true, { FORCE_COLOR: '1' }, true],
  ['FORCE_COLOR=0', screen, true, { FORCE_COLOR: '0' }, false],
  ['--no-color and FORCE_COLOR', pipe, false, { FORCE_COLOR: '1' }, false],
])('colours for %s', (_case, stream, option, env, expected) => {
  expect(hasColours(stream, option, env)).toBe(expected);
});

test('without colours a text stays as it is', () => {
  expect(coloursFor(false).red('text')).toBe('text');
  expect(coloursFor(true).red('text')).toBe('\u001b[31mtext\u001b[39m');
});
