import type { Json } from '../../../machines/event-content.ts';
import type { SeededRandom } from './seeded-random.ts';

/** Texts that have broken somebody's storage, transport or terminal before. U+0000 and a lone surrogate are among them. */
const ODD_TEXTS = [
  '',
  ' ',
  'null',
  '"',
  "'; -- \\",
  '{"not": "parsed"}',
  'naïve café – “quoted”',
  'e\u0301 is not \u00e9',
  '👩‍👩‍👧‍👦 🇪🇺 🏴‍☠️',
  'مرحبا שלום',
  '\u202Eright to left\u202C',
  'a\u0000b',
  'cut \uD83D here',
  'line\nline\r\ntab\t\u0007\u001B[31m',
  '\uFEFF\u200B\u2028\u2029',
  '𝔘𝔫𝔦𝔠𝔬𝔡𝔢',
] as const;

const WORDS =
  'please refund order my the flight to for and cannot find it tomorrow seat bag yes no thanks 42 again'.split(' ');

/** A text of a few words, now and then an odd or a long one. */
export function generateText(random: SeededRandom): string {
  if (random.chance(0.25)) return random.pick(ODD_TEXTS);
  const length = random.chance(0.03) ? 2_000 : random.int(1, 12);
  return Array.from({ length }, () => random.pick(WORDS)).join(' ');
}

/** Arguments of a call: an object, flat or nested. */
export function generateInput(random: SeededRandom): { [name: string]: Json } {
  const names = Array.from({ length: random.int(0, 4) }, () => random.pick(WORDS));
  return Object.fromEntries(names.map((name) => [name, generateValue(random, 3)]));
}

function generateValue(random: SeededRandom, depth: number): Json {
  switch (random.int(0, depth > 0 ? 6 : 4)) {
    case 0:
      return random.pick([null, true, false]);
    case 1:
      return random.int(-1_000, 1_000);
    case 2:
      return random.pick([0.1, -2.5e-7, 1e21, 2 ** 53, 12.5]);
    case 3:
    case 4:
      return generateText(random);
    case 5:
      return Array.from({ length: random.int(0, 3) }, () => generateValue(random, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.int(0, 3) }, () => [random.pick(WORDS), generateValue(random, depth - 1)]),
      );
  }
}
