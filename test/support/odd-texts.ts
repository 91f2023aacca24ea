import { STORABLE_ODD_TEXTS } from '../../testing/contracts/odd-texts.ts';

/** A text that is easily broken on its way, and what is read back. */
export interface OddText {
  readonly name: string;
  readonly given: string;
  readonly stored: string;
}

const replaced = (name: string, given: string, stored: string): OddText => ({ name, given, stored });

/** Texts that cannot be stored as they are. */
const REPLACED: readonly OddText[] = [
  replaced('U+0000', 'a\u0000b', 'a\uFFFDb'),
  replaced('U+0000 alone', '\u0000', '\uFFFD'),
  replaced('a lone high surrogate', 'cut \ud83d', 'cut \uFFFD'),
  replaced('a lone low surrogate', '\ude00 cut', '\uFFFD cut'),
  replaced('surrogates in the wrong order', '\ude00\ud83d', '\uFFFD\uFFFD'),
  replaced('an emoji that is cut, after a whole one', '😀😀'.slice(0, 3), '😀\uFFFD'),
  replaced('a family that is cut', '👩‍👩‍👧'.slice(0, 4), '👩‍\uFFFD'),
  replaced('U+0000 beside the six characters', `${String.raw`\u0000`}\u0000`, `${String.raw`\u0000`}\uFFFD`),
];

const KEPT = STORABLE_ODD_TEXTS.map(({ name, text }): OddText => ({ name, given: text, stored: text }));

/** Every odd text: what U+FFFD replaces, and what must survive to the byte. */
export const ODD_TEXTS: readonly OddText[] = [...REPLACED, ...KEPT];
