import { describe, expect, test } from 'vitest';
import { isTurnlockError } from '../../../errors.ts';
import { canonicalJson } from '../../../persistence/keys/canonical-json.ts';

describe('canonicalJson, by the examples of RFC 8785', () => {
  test('section 3.2.2: white space, escapes and numbers', () => {
    const input = `{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
      "literals": [null, true, false]
    }`;
    expect(canonicalJson(JSON.parse(input))).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  test('section 3.2.3: keys by UTF-16 code units, not by code points', () => {
    const input = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    const order = [...canonicalJson(input).matchAll(/:"([^"]+)"/g)].map(([, value]) => value);
    expect(order).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  test.each<[number, string]>([
    [0, '0'],
    [-0, '0'],
    [5e-324, '5e-324'],
    [-5e-324, '-5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
    [9007199254740992, '9007199254740992'],
    [-9007199254740992, '-9007199254740992'],
    [295147905179352830000, '295147905179352830000'],
    [9.999999999999997e22, '9.999999999999997e+22'],
    [1e23, '1e+23'],
    [1.0000000000000001e23, '1.0000000000000001e+23'],
    [999999999999999700000, '999999999999999700000'],
    [1e21, '1e+21'],
    [9.999999999999997e-7, '9.999999999999997e-7'],
    [0.000001, '0.000001'],
    [333333333.3333332, '333333333.3333332'],
  ])('appendix B: the number %s', (number, text) => {
    expect(canonicalJson(number)).toBe(text);
  });

  test.each([null, true, '', [], {}])('%j', (value) => {
    expect(canonicalJson(value)).toBe(JSON.stringify(value));
  });

  test('an own key __proto__ counts', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}');
  });

  test.each([[undefined], [() => 1], [Number.NaN], [Number.POSITIVE_INFINITY], ['\ud800'], [{ a: 1n }]])(
    'what was not normalised is a bug: %s',
    (value) => {
      try {
        canonicalJson(value);
        expect.unreachable();
      } catch (error) {
        expect(isTurnlockError(error, 'INVARIANT_BROKEN')).toBe(true);
      }
    },
  );
});
