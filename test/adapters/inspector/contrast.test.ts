import { expect, test } from 'vitest';
import { TOKENS } from '../../../adapters/inspector/styles/tokens.ts';

const [light = '', dark = ''] = TOKENS.split('@media');

/** Text colours with the grounds that they stand on. */
const PAIRS: readonly [text: string, ground: string][] = [
  ...['ground', 'surface', 'sunken'].flatMap((ground): [string, string][] => [
    ['text', ground],
    ['muted', ground],
    ['accent', ground],
  ]),
  ...['quiet', 'busy', 'asks', 'good', 'bad', 'accent'].map((name): [string, string] => [name, `${name}-ground`]),
  ['asks', 'surface'],
  ['bad', 'surface'],
  ['busy', 'surface'],
  ['on-accent', 'accent'],
];

test.each([
  ['light', light],
  ['dark', dark],
])('every text of the %s theme has a contrast of 4.5 or more on its ground', (_theme, tokens) => {
  const colours = new Map(
    [...tokens.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [name, value]),
  );
  const contrasts = PAIRS.map(
    ([text, ground]) => [text, ground, contrast(colours.get(text), colours.get(ground))] as const,
  );
  expect(contrasts.filter(([, , value]) => !(value >= 4.5))).toEqual([]);
});

/** The contrast of WCAG 2.2. */
function contrast(one = '', other = ''): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((place) => {
    const part = Number.parseInt(colour.slice(place, place + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
