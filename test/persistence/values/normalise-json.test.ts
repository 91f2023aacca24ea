import { runInNewContext } from 'node:vm';
import { describe, expect, test, vi } from 'vitest';
import { normaliseJson } from '../../../persistence/values/normalise-json.ts';
import { refusalOf } from './refusal-of.ts';

const bounds = { maxBytes: 10_000, maxDepth: 10, name: 'params' };
const normalise = (value: unknown) => normaliseJson(value, bounds);
const refuse = (value: unknown) => refusalOf(() => normalise(value));

class Order {
  id = 1;
}

class Orders extends Array {}

function cycle(): unknown {
  const order: Record<string, unknown> = { lines: [] };
  (order.lines as unknown[]).push({ order });
  return order;
}

describe('C34 C35 what is replaced', () => {
  test('texts, deep inside, each noted with its path', () => {
    const { value, notes } = normalise({ a: ['ok', 'x\0'], 'b/c~': { d: '\ud800' } });
    expect(value).toEqual({ a: ['ok', 'x\uFFFD'], 'b/c~': { d: '\uFFFD' } });
    expect(notes).toEqual(['/params/a/1', '/params/b~1c~0/d']);
  });

  test('keys, noted under the key that is stored', () => {
    const { value, notes } = normalise({ 'k\0': 1 });
    expect(value).toEqual({ 'k\uFFFD': 1 });
    expect(notes).toEqual(['/params/k\uFFFD']);
  });

  test('a key and its value: one note', () => {
    expect(normalise({ 'k\0': '\0' }).notes).toEqual(['/params/k\uFFFD']);
  });

  test('two keys that would become one are refused', () => {
    expect(refuse({ 'k\0': 1, 'k\ud800': 2 })).toMatchObject({
      code: 'VALUE_INVALID',
      details: { path: '/params/k\uFFFD' },
    });
    expect(refuse({ 'k\uFFFD': 1, 'k\0': 2 }).code).toBe('VALUE_INVALID');
  });

  test('a bare text is noted with the name alone', () => {
    expect(normalise('\0').notes).toEqual(['/params']);
  });

  test('notes stay bounded: of too many the last is that of the whole', () => {
    const { notes } = normaliseJson(
      Array.from({ length: 5_000 }, () => '\0'),
      { ...bounds, maxBytes: 100_000 },
    );
    expect(notes).toHaveLength(100);
    expect(notes.at(-1)).toBe('/params');
  });

  test('a path that is too long gives way to that of its container', () => {
    expect(normalise({ a: { ['x'.repeat(2_000)]: '\0' } }).notes).toEqual(['/params/a']);
  });
});

describe('C36 what is refused, with its path', () => {
  test.each<[string, unknown, string, string]>([
    ['undefined alone', undefined, '', 'undefined'],
    ['undefined in an array', { a: [1, undefined] }, '/a/1', 'undefined'],
    ['a hole', { a: new Array(2) }, '/a/0', 'a hole'],
    ['a BigInt', { a: { b: 1n } }, '/a/b', 'a BigInt'],
    ['NaN', [Number.NaN], '/0', 'NaN'],
    ['1e400', JSON.parse('{"a":1e400}'), '/a', 'Infinity'],
    ['-Infinity', Number.NEGATIVE_INFINITY, '', '-Infinity'],
    ['a function', { a: () => 1 }, '/a', 'a function'],
    ['a symbol', [Symbol('s')], '/0', 'a symbol'],
    ['a date', { at: new Date(0) }, '/at', 'a Date'],
    ['an invalid date', { at: new Date(Number.NaN) }, '/at', 'a Date'],
    ['a Map', { m: new Map([[1, 2]]) }, '/m', 'a Map'],
    ['a Set', { s: new Set([1]) }, '/s', 'a Set'],
    ['a RegExp', { r: /x/ }, '/r', 'a RegExp'],
    ['an Error', { e: new Error('x') }, '/e', 'an Error'],
    ['a Buffer', { b: Buffer.from('x') }, '/b', 'a Buffer'],
    ['a typed array', { b: new Uint8Array(2) }, '/b', 'an Uint8Array'],
    ['a promise', { p: Promise.resolve(1) }, '/p', 'a Promise'],
    ['a boxed number', { n: Object(1) }, '/n', 'a Number'],
    ['a boxed text', { t: Object('x') }, '/t', 'a String'],
    ['an instance', { o: new Order() }, '/o', 'an Order'],
    ['an instance that is an array', { o: new Orders() }, '/o', 'an array'],
    ['an object with another prototype', Object.create({ inherited: 1 }), '', 'an object'],
    [
      'an object that inherits from a bare one',
      Object.create(Object.assign(Object.create(null), { a: 1 })),
      '',
      'an object',
    ],
    ['a namespace', { m: Math }, '/m', 'an object'],
    ['an iterable', { i: Object.defineProperty({}, Symbol.iterator, { value: () => [] }) }, '/i', 'an object'],
    ['an array without prototype', { a: Object.setPrototypeOf([1], null) }, '/a', 'an array'],
    ['a symbol as key of an array', { a: Object.assign([1], { [Symbol('s')]: 1 }) }, '/a', 'a key that is a symbol'],
    ['an accessor in an array', [Object.defineProperty([0], 0, { get: () => 1 })], '/0/0', 'an accessor'],
    [
      'a getter',
      {
        get now() {
          return 1;
        },
      },
      '/now',
      'an accessor',
    ],
    ['a setter', { set now(_: number) {} }, '/now', 'an accessor'],
    ['a key that is a symbol', { a: { [Symbol('s')]: 1 } }, '/a', 'a key that is a symbol'],
    [
      '__proto__ as JSON.parse makes it',
      JSON.parse('{"a":{"__proto__":{"admin":true}}}'),
      '/a/__proto__',
      'the key __proto__',
    ],
    ['a cycle', cycle(), '/lines/0/order', 'a cycle'],
    ['a property of an array', /(?<word>a)/.exec('a'), '/groups', 'a property of an array'],
    ['an own toJSON', { a: { toJSON: () => 1 } }, '/a/toJSON', 'a function'],
  ])('%s', (_what, value, path, found) => {
    expect(refuse(value)).toMatchObject({
      code: 'VALUE_INVALID',
      message: expect.stringContaining(`/params${path} (found ${found}, wanted `),
      details: { path: `/params${path}`, found },
    });
  });

  test('a proxy whose traps throw: what it throws does not get through', () => {
    const trap = () => {
      throw new Error('secret');
    };
    for (const handler of [
      { ownKeys: trap },
      { getPrototypeOf: trap },
      { getOwnPropertyDescriptor: trap },
      { has: trap },
    ]) {
      const error = refuse({ a: new Proxy({ b: 1 }, handler) });
      expect(error).toMatchObject({ code: 'VALUE_INVALID', details: { path: expect.stringMatching('^/params/a') } });
      expect(JSON.stringify(error)).not.toContain('secret');
      expect(error.cause).toBeUndefined();
    }
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(refuse([proxy]).code).toBe('VALUE_INVALID');
  });

  test('the message holds the path, cut where keys are long, and never the value', () => {
    const error = refuse({ ['k'.repeat(5_000)]: { password: 'hunter2', at: new Date() } });
    expect(error.message.length).toBeLessThan(400);
    expect(JSON.stringify(error)).not.toContain('hunter2');
  });
});

describe('C36 what is kept', () => {
  test('no code of the value runs', () => {
    const getter = vi.fn();
    const value = { a: Object.defineProperty({}, 'hidden', { enumerable: false, get: getter }) };
    expect(normalise(value).value).toEqual({ a: {} });
    expect(getter).not.toHaveBeenCalled();
  });

  test('properties that are undefined are left out, as JSON.stringify does', () => {
    const { value, bytes } = normalise({ a: undefined, b: { c: undefined } });
    expect(value).toStrictEqual({ b: {} });
    expect(bytes).toBe('{"b":{}}'.length);
  });

  test('-0 is 0 from the start', () => {
    expect(Object.is(normalise(-0).value, 0)).toBe(true);
    expect(Object.is((normalise([-0]).value as number[])[0], 0)).toBe(true);
  });

  test('objects without prototype and of another realm are plain; the copy has the ordinary one', () => {
    const bare = Object.assign(Object.create(null), { a: 1 });
    expect(normalise(bare).value).toStrictEqual({ a: 1 });
    expect(normalise(runInNewContext('({ a: [1, { b: 2 }] })')).value).toStrictEqual({ a: [1, { b: 2 }] });
  });

  test('keys that look like members of Object.prototype', () => {
    const value = { constructor: 1, toString: 2, hasOwnProperty: 3, prototype: 4 };
    expect(normalise(value).value).toEqual(value);
  });

  test('a part that is shared, not cyclic, is copied each time', () => {
    const part = { a: 1 };
    const { value } = normalise({ x: part, y: [part, part] });
    expect(value).toEqual({ x: { a: 1 }, y: [{ a: 1 }, { a: 1 }] });
    expect((value as { x: unknown }).x).not.toBe(part);
  });

  test('later changes of the original do not reach the copy', () => {
    const original = { list: [{ amount: 1 }] };
    const { value } = normalise(original);
    original.list[0]!.amount = 2;
    expect(value).toEqual({ list: [{ amount: 1 }] });
  });

  test('keys come in the order in which jsonb keeps them', () => {
    const { value } = normalise({ ccc: 1, b: 2, é: 3, a: 4, aa: 5 });
    expect(Object.keys(value as object)).toEqual(['a', 'b', 'aa', 'é', 'ccc']);
  });
});

describe('bounds', () => {
  test('bytes are those of the JSON, inclusive', () => {
    const value = { a: [1, 'é"', null, true], é: -1.5e-7 };
    const size = Buffer.byteLength(JSON.stringify(value));
    expect(normaliseJson(value, { ...bounds, maxBytes: size }).bytes).toBe(size);
    expect(refusalOf(() => normaliseJson(value, { ...bounds, maxBytes: size - 1 }))).toMatchObject({
      code: 'VALUE_TOO_LARGE',
      category: 'limit',
      details: { path: '/params', limit: size - 1, unit: 'bytes' },
    });
  });

  test('levels are those of containers, inclusive; a bare value has none', () => {
    const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
    expect(normaliseJson(1, { ...bounds, maxDepth: 0 }).value).toBe(1);
    expect(normalise(deep(10)).value).toEqual(deep(10));
    expect(refuse(deep(11))).toMatchObject({ code: 'VALUE_TOO_LARGE', details: { unit: 'levels', limit: 10 } });
  });

  test('the largest depth that can be set does not overflow the stack', () => {
    const deep = (levels: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level += 1) value = { a: [value] };
      return value;
    };
    expect(() => normaliseJson(deep(500), { ...bounds, maxDepth: 1_000 })).not.toThrow();
    expect(refusalOf(() => normaliseJson(deep(100_000), { ...bounds, maxDepth: 1_000 })).code).toBe('VALUE_TOO_LARGE');
  });

  test('a value that shares its parts a billion times is refused at once', () => {
    let value: unknown = ['x'];
    for (let level = 0; level < 9; level += 1) value = Array(10).fill(value);
    expect(refuse(value).code).toBe('VALUE_TOO_LARGE');
  });

  test('values are counted where a bound is given, arrays and objects among them, inclusive', () => {
    expect(normaliseJson([[1], { a: 2 }], { ...bounds, maxValues: 5 }).bytes).toBe(13);
    expect(refusalOf(() => normaliseJson([[1], { a: 2 }], { ...bounds, maxValues: 4 }))).toMatchObject({
      code: 'VALUE_TOO_LARGE',
      details: { path: '/params', unit: 'values', limit: 4 },
    });
  });

  test('an array that claims to be huge is refused before its elements are looked at', () => {
    expect(refuse(new Array(2 ** 32 - 1)).code).toBe('VALUE_TOO_LARGE');
  });
});
