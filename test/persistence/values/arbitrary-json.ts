import fc from 'fast-check';

/** Text with everything that is awkward in it: U+0000, lone surrogates, escapes, emoji, composed and decomposed letters. */
export const awkwardText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
      fc.constantFrom(
        '\0',
        '\ud800',
        '\udfff',
        '\\u0000',
        '"',
        '\\',
        '\u2028',
        '👩‍🚀',
        'é',
        'e\u0301',
        '\uFFFD',
        '/',
        '~',
        ' ',
        '',
      ),
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(''));

const keyText = fc
  .oneof(awkwardText, fc.constantFrom('a', 'b', 'aa', 'constructor', 'toString', '1', '10', '2', 'zß', 'é'))
  .filter((key) => key !== '__proto__');

/** JSON as JSON.parse or a literal gives it, before it is normalised: awkward texts and keys, `-0`, extremes. */
export const awkwardJson: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, false),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.constantFrom(0, -0, 5e-324, 1.7976931348623157e308, 2 ** 53 + 2, 0.1, 1e21, 1e-7),
    awkwardText,
    fc.array(tie('value'), { maxLength: 5 }),
    fc
      .uniqueArray(fc.tuple(keyText, tie('value')), {
        maxLength: 6,
        selector: ([key]) => key.toWellFormed().replaceAll('\0', '\uFFFD'),
      })
      .map((entries) => Object.fromEntries(entries)),
  ),
})).value;
