import { describe, expect, test } from 'vitest';
import { TurnlockError } from '../../../errors.ts';
import { LIMITS } from '../../../limits.ts';
import { normaliseError } from '../../../persistence/values/normalise-error.ts';

const bounds = { maxErrorBytes: 256 };

const throwing = {
  get message(): string {
    throw new Error('inner');
  },
  get code(): string {
    throw new Error('inner');
  },
};

const unreadable = new Proxy(
  {},
  {
    get() {
      throw new Error('inner');
    },
    getPrototypeOf() {
      throw new Error('inner');
    },
    ownKeys() {
      throw new Error('inner');
    },
  },
);

describe('normaliseError', () => {
  test.each<[string, unknown, string]>([
    ['an error', new TypeError('no such order'), 'no such order'],
    ['text', 'no such order', 'no such order'],
    ['empty text', '', 'thrown: empty text'],
    ['null', null, 'thrown: null'],
    ['undefined', undefined, 'thrown: undefined'],
    ['a number', 404, 'thrown: 404'],
    ['a BigInt', 5n, 'thrown: 5'],
    ['a symbol', Symbol('s'), 'thrown: a symbol'],
    ['a function', () => 1, 'thrown: a function'],
    ['an object with a message', { message: 'no such order' }, 'no such order'],
    ['an object without', { status: 500 }, 'thrown: {"status":500}'],
    ['an instance', new Map(), 'thrown: a Map'],
    ['an error without message', new RangeError(''), 'RangeError without a message'],
    ['an AggregateError with a message', new AggregateError([new Error('a')], 'both failed'), 'both failed'],
    ['an AggregateError without', new AggregateError([new Error('a'), 'b']), '2 errors: a; b'],
    ['an AggregateError of nothing', new AggregateError([]), 'AggregateError without a message'],
    ['getters that throw', throwing, 'thrown: an object'],
    ['an object that cannot be read', unreadable, 'thrown: an object that cannot be read'],
    ['a message that is no text', { message: 7 }, 'thrown: {"message":7}'],
  ])('%s', (_what, thrown, message) => {
    expect(normaliseError(thrown, bounds)).toMatchObject({ message, notes: [] });
  });

  test('C34 U+0000 and lone surrogates in a message are replaced and noted', () => {
    expect(normaliseError(new Error('a\0\ud800'), bounds)).toEqual({ message: 'a\uFFFD\uFFFD', notes: ['/error'] });
  });

  test('a long message is cut to the bound and says so', () => {
    const { message } = normaliseError(new Error('é'.repeat(10_000)), bounds);
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(256);
    expect(message).toMatch(/^é+… \[cut: 20000 bytes, of which at most 256 are kept\]$/);
  });

  test('an AggregateError of many names the first five', () => {
    const errors = Array.from({ length: 9 }, (_, index) => new Error(`e${index}`));
    expect(normaliseError(new AggregateError(errors), bounds).message).toBe('9 errors: e0; e1; e2; e3; e4; …');
  });

  test('the bound defaults to that of the limits', () => {
    const { message } = normaliseError(new Error('x'.repeat(LIMITS.maxErrorBytes + 1)));
    expect(Buffer.byteLength(message)).toBe(LIMITS.maxErrorBytes);
  });

  test.each<[string, unknown, string | undefined]>([
    ['of the error', Object.assign(new Error('x'), { code: 'E_PAY' }), 'E_PAY'],
    ['of ours', new TurnlockError('TOOL_FAILED', { message: 'x' }), 'TOOL_FAILED'],
    ['that is a number', Object.assign(new Error('x'), { code: 42 }), '42'],
    ['of the cause', new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }), 'ECONNREFUSED'],
    ['that is too long for its column', { message: 'x', code: 'E'.repeat(65) }, undefined],
    ['with odd characters', { message: 'x', code: 'a\0b' }, undefined],
    ['that is no text', { message: 'x', code: {} }, undefined],
    ['of text', 'x', undefined],
  ])('the code %s', (_what, thrown, code) => {
    expect(normaliseError(thrown, bounds).code).toBe(code);
  });

  test('a cause that is its own cause ends', () => {
    const error = new Error('x');
    error.cause = error;
    expect(normaliseError(error, bounds)).toEqual({ message: 'x', notes: [] });
  });

  test('proxies that were revoked, wherever they stand', () => {
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    expect(normaliseError(proxy, bounds).message).toBe('thrown: an object that cannot be read');
    expect(normaliseError({ errors: proxy, code: proxy, cause: proxy }, bounds).message).toBe(
      'thrown: a value that cannot be read',
    );
  });

  test('messages of causes stay inside: the text is shown to the model', () => {
    const { message } = normaliseError(new Error('charge failed', { cause: new Error('key sk_live_1') }), bounds);
    expect(message).toBe('charge failed');
  });
});
