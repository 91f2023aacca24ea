/** A text that is easily broken on its way, and what is read back. */
export interface OddText {
  readonly name: string;
  readonly given: string;
  readonly stored: string;
}

const kept = (name: string, given: string): OddText => ({ name, given, stored: given });
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

/** Texts of which not one byte may change. */
const KEPT: readonly OddText[] = [
  kept('whole emojis', 'ok 😀👩‍👩‍👧🏳️‍🌈'),
  kept('six characters', String.raw`a\u0000b`),
  kept('six characters twice escaped', String.raw`\\u0000 \ud83d`),
  kept('quotes and backslashes', `'"\\' OR 1=1; --`),
  kept('a statement', `'); DROP TABLE turnlock.agent_sessions; --`),
  kept('an array as text', '[1,2]'),
  kept('a number as text', '123'),
  kept('a number with zeros as text', '007.10'),
  kept('null as text', 'null'),
  kept('true as text', 'true'),
  kept('an object as text', '{"a":1}'),
  kept('half an object as text', '{"a":'),
  kept('an array of the server as text', '{NULL,"x"}'),
  kept('bytes of the server as text', '\\x00'),
  kept('text in quotes', '"quoted"'),
  kept('placeholders', '$1 ? ?? :name $' + '{x} %s %%'),
  kept('quotes of the server', '$$ $body$ E\'\\n\' U&"\\0000"'),
  kept('no text', ''),
  kept('white space', ' \t\r\n '),
  kept('control characters', '\u0001\u001b[31m\u0007\u001f\u007f\u009b'),
  kept('separators of lines', 'a\u2028b\u2029c\u0085d'),
  kept('directions of writing', 'user\u202egnp.exe\u2066\u2069\u200f'),
  kept('the replacement itself', '\uFFFD'),
  kept('characters that are none', '\uFEFF\uFFFE\uFFFF\u{10FFFF}'),
  kept('composed and decomposed', 'é e\u0301'),
  kept('the path of a place', '/a~1b/~0/0'),
  kept('a key of every object', '__proto__'),
  kept('markup', '</script><b>&amp;'),
  kept('a long text', `${'long '.repeat(600)}😀`),
];

/** Every odd text: what U+FFFD replaces, and what must survive to the byte. */
export const ODD_TEXTS: readonly OddText[] = [...REPLACED, ...KEPT];
