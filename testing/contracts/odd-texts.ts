/** A text that is easily broken on its way. */
export interface OddText {
  readonly name: string;
  readonly text: string;
}

const odd = (name: string, text: string): OddText => ({ name, text });

/** Texts of which not one byte may change: well-formed, without U+0000, as everything is that was stored. */
export const STORABLE_ODD_TEXTS: readonly OddText[] = [
  odd('whole emojis', 'ok 😀👩‍👩‍👧🏳️‍🌈'),
  odd('six characters', String.raw`a\u0000b`),
  odd('six characters twice escaped', String.raw`\\u0000 \ud83d`),
  odd('quotes and backslashes', `'"\\' OR 1=1; --`),
  odd('a statement', `'); DROP TABLE turnlock.agent_sessions; --`),
  odd('an array as text', '[1,2]'),
  odd('a number as text', '123'),
  odd('a number with zeros as text', '007.10'),
  odd('null as text', 'null'),
  odd('true as text', 'true'),
  odd('an object as text', '{"a":1}'),
  odd('half an object as text', '{"a":'),
  odd('an array of the server as text', '{NULL,"x"}'),
  odd('bytes of the server as text', '\\x00'),
  odd('text in quotes', '"quoted"'),
  odd('placeholders', '$1 ? ?? :name $' + '{x} %s %%'),
  odd('quotes of the server', '$$ $body$ E\'\\n\' U&"\\0000"'),
  odd('no text', ''),
  odd('white space', ' \t\r\n '),
  odd('control characters', '\u0001\u001b[31m\u0007\u001f\u007f\u009b'),
  odd('separators of lines', 'a\u2028b\u2029c\u0085d'),
  odd('directions of writing', 'user\u202egnp.exe\u2066\u2069\u200f'),
  odd('the replacement itself', '\uFFFD'),
  odd('characters that are none', '\uFEFF\uFFFE\uFFFF\u{10FFFF}'),
  odd('composed and decomposed', 'é e\u0301'),
  odd('the path of a place', '/a~1b/~0/0'),
  odd('a key of every object', '__proto__'),
  odd('markup', '</script><b>&amp;'),
  odd('a long text', `${'long '.repeat(600)}😀`),
];
