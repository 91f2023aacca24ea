import fc from 'fast-check';
import type { Json } from '../../machines/event-content.ts';
import { ODD_TEXTS } from './odd-texts.ts';

/** Where a value is refused. `path` is a pointer from the value on, `''` for the value itself; `null`: of the whole, or deep inside. */
export interface RefusedAt {
  readonly code: 'VALUE_INVALID' | 'VALUE_TOO_LARGE';
  readonly path: string | null;
}

/** What becomes of a value at every door. */
export type Fate =
  /** It is read back as `stored`; `paths` are the places at which characters were replaced. */
  | { readonly is: 'stored'; readonly stored: Json; readonly paths: readonly string[] }
  /** It is refused at one of these places. */
  | { readonly is: 'refused'; readonly at: readonly RefusedAt[] };

/** A value that is easily broken on its way, and what becomes of it. */
export interface OddValue {
  readonly name: string;
  /** A new one each time: nothing that one door does reaches the next. */
  make(): unknown;
  readonly fate: Fate;
  /** Whether `await` reads it without running into one of its traps. */
  readonly isAwaitable: boolean;
}

/** An odd value that is stored. */
export type StoredValue = OddValue & { readonly fate: Extract<Fate, { is: 'stored' }> };

/** An odd value that is refused. */
export type RefusedValue = OddValue & { readonly fate: Extract<Fate, { is: 'refused' }> };

function stores(name: string, make: () => unknown, stored: Json, ...paths: string[]): OddValue {
  return { name, make, fate: { is: 'stored', stored, paths }, isAwaitable: true };
}

function keeps(name: string, value: Json): OddValue {
  return stores(name, () => structuredClone(value), value);
}

function refuses(name: string, make: () => unknown, path = '', isAwaitable = true): OddValue {
  return { name, make, fate: { is: 'refused', at: [{ code: 'VALUE_INVALID', path }] }, isAwaitable };
}

function tooLarge(name: string, make: () => unknown): OddValue {
  return { name, make, fate: { is: 'refused', at: [{ code: 'VALUE_TOO_LARGE', path: null }] }, isAwaitable: true };
}

/** `levels` arrays within each other. */
export function nested(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

/** A text of `bytes` bytes that ends in an emoji, 4 bytes of it. */
export function textOfBytes(bytes: number): string {
  return bytes < 4 ? 'x'.repeat(bytes) : `${'x'.repeat(bytes - 4)}😀`;
}

class Order {
  id = 1;
}

class Orders extends Array {}

function cycle(): unknown {
  const order: Record<string, unknown> = { lines: [] };
  (order.lines as unknown[]).push({ order });
  return order;
}

function throwing(): never {
  throw new Error('the getter of a secret');
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function shared(): unknown {
  const part = { amount: 1 };
  return { first: part, both: [part, part] };
}

/** Ten thousand million texts, of which there is one. */
function bomb(): unknown {
  let value: unknown = ['x'];
  for (let level = 0; level < 10; level += 1) value = Array(10).fill(value);
  return value;
}

const KEYS = [
  'constructor',
  'toString',
  'hasOwnProperty',
  'toJSON',
  'then',
  'length',
  '0',
  '',
  ' ',
  'a/b~c',
  '$1',
  'é',
];

const JSON_VALUES: readonly OddValue[] = [
  ...[null, true, false, 0, -1.5, 0.1, 1e21, 1e-7, 5e-324, 1.7976931348623157e308].map((value) =>
    keeps(`${value}`, value),
  ),
  ...[2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), 12 * 10 ** 20].map((n) => keeps(`the integer ${n}`, n)),
  stores('-0', () => -0, 0),
  stores('-0 inside', () => [-0, { zero: -0 }], [0, { zero: 0 }]),
  keeps('an empty array', []),
  keeps('an empty object', {}),
  keeps('nulls in arrays', [1, [2, [null]], [null]]),
  keeps('empty containers', [[], {}, [[]]]),
  keeps('keys in no order', { ccc: 1, b: 2, é: 3, a: 4, aa: { z: 0, y: [] } }),
  keeps('keys that mean something', Object.fromEntries(KEYS.map((key) => [key, 1]))),
  keeps('keys that are numbers', { 10: 'a', 9: 'b', '01': 'c', 1.5: 'd', '-1': 'e' }),
  keeps(
    'very wide',
    Array.from({ length: 1_000 }, (_, place) => place),
  ),
  keeps(
    'very wide, with names',
    Object.fromEntries(Array.from({ length: 300 }, (_, place) => [`name ${place}`, place])),
  ),
  keeps('deep', nested(50)),
  stores('a part that is shared and no cycle', shared, { both: [{ amount: 1 }, { amount: 1 }], first: { amount: 1 } }),
  stores('an object without prototype', () => Object.assign(Object.create(null), { a: [1] }), { a: [1] }),
  stores('a property that is undefined', () => ({ a: undefined, b: { c: undefined } }), { b: {} }),
  stores('a property that cannot be listed', () => Object.defineProperty({ a: 1 }, 'b', { get: throwing }), { a: 1 }),
  stores('a proxy that hides nothing', () => new Proxy({ a: [1] }, {}), { a: [1] }),
  stores('a frozen value', () => Object.freeze({ a: Object.freeze([1]) }), { a: [1] }),
  stores('a key with U+0000', () => ({ 'k\0': 1 }), { 'k\uFFFD': 1 }, '/k\uFFFD'),
  stores(
    'a key with half an emoji',
    () => ({ a: [{ 'k\ud83d': '😀' }] }),
    { a: [{ 'k\uFFFD': '😀' }] },
    '/a/0/k\uFFFD',
  ),
  stores('a key and its value', () => ({ 'k\0': ['\0'] }), { 'k\uFFFD': ['\uFFFD'] }, '/k\uFFFD', '/k\uFFFD/0'),
  stores('a replaced text under an odd key', () => ({ 'a/b~': '\ude00' }), { 'a/b~': '\uFFFD' }, '/a~1b~0'),
];

const REFUSED_VALUES: readonly OddValue[] = [
  refuses('undefined', () => undefined),
  refuses('undefined in an array', () => [1, undefined], '/1'),
  refuses('a hole', () => ({ a: new Array(2) }), '/a/0'),
  // biome-ignore lint/suspicious/noSparseArray: the value under test
  refuses('an array with a hole', () => [1, , 3], '/1'),
  refuses('a BigInt', () => ({ a: [1n] }), '/a/0'),
  refuses('NaN', () => [Number.NaN], '/0'),
  refuses('Infinity', () => ({ a: { b: Number.POSITIVE_INFINITY } }), '/a/b'),
  refuses('1e400', () => JSON.parse('{"a":1e400}'), '/a'),
  refuses('-Infinity', () => Number.NEGATIVE_INFINITY),
  refuses('a function', () => ({ a: () => 1 }), '/a'),
  refuses('a class', () => Order),
  refuses('a symbol', () => [Symbol('s')], '/0'),
  refuses('a key that is a symbol', () => ({ a: { [Symbol('s')]: 1 } }), '/a'),
  refuses('a Date', () => ({ at: new Date(0) }), '/at'),
  refuses('a Date that is none', () => new Date(Number.NaN)),
  refuses('a Map', () => new Map([['a', 1]])),
  refuses('a Set', () => ({ s: new Set([1]) }), '/s'),
  refuses('a WeakMap', () => [new WeakMap()], '/0'),
  refuses('a pattern', () => ({ p: /x/ }), '/p'),
  refuses('an error', () => ({ e: new Error('x') }), '/e'),
  refuses('an address', () => [new URL('https://example.com')], '/0'),
  refuses('a Buffer', () => ({ b: Buffer.from('x') }), '/b'),
  refuses('a typed array', () => [new Float64Array([1.5])], '/0'),
  refuses('an ArrayBuffer', () => ({ b: new ArrayBuffer(4) }), '/b'),
  refuses('a promise', () => ({ p: Promise.resolve(1) }), '/p'),
  refuses('a boxed number', () => ({ n: Object(1) }), '/n'),
  refuses('a boxed text', () => [Object('x')], '/0'),
  refuses('a boxed BigInt', () => Object(1n)),
  refuses('an instance', () => ({ a: { o: new Order() } }), '/a/o'),
  refuses('an instance that is an array', () => [new Orders()], '/0'),
  refuses('an object with another prototype', () => Object.create({ inherited: 1 })),
  refuses('a namespace', () => ({ m: Math }), '/m'),
  refuses('arguments', () =>
    (function (..._: unknown[]) {
      // biome-ignore lint/complexity/noArguments: the value under test
      return arguments;
    })(1),
  ),
  refuses('a getter', () => ({ a: { get now() { return 1; } } }), '/a/now'), // biome-ignore format: one line
  refuses('a getter that throws', () => Object.defineProperty({}, 'a', { enumerable: true, get: throwing }), '/a'),
  refuses('a getter in an array', () => [Object.defineProperty([0], 0, { get: throwing })], '/0/0'),
  refuses('an own toJSON', () => ({ a: { toJSON: () => 1 } }), '/a/toJSON'),
  refuses('__proto__ as JSON gives it', () => JSON.parse('{"a":{"__proto__":{"admin":true}}}'), '/a/__proto__'),
  refuses('two keys that become one', () => ({ 'k\0': 1, 'k\ud800': 2 }), '/k\uFFFD'),
  refuses('a property of an array', () => ({ m: /(?<word>a)/.exec('a') }), '/m/groups'),
  refuses('a cycle', cycle, '/lines/0/order'),
  refuses('a proxy that throws', () => ({ p: new Proxy({}, { ownKeys: throwing }) }), '/p'),
  refuses('a proxy without a prototype to be had', () => [new Proxy({}, { getPrototypeOf: throwing })], '/0'),
  refuses('a proxy that throws, bare', () => new Proxy({}, { getPrototypeOf: throwing })),
  refuses('a revoked proxy', revoked, '', false),
  refuses('a revoked proxy inside', () => ({ p: revoked() }), '/p'),
  tooLarge('very deep', () => nested(5_000)),
  tooLarge('an array that claims to be huge', () => ({ a: new Array(2 ** 32 - 1) })),
  tooLarge('a value that shares its parts ten thousand million times', bomb),
];

/** Every odd value, bare texts among them. */
export const ODD_VALUES: readonly OddValue[] = [
  ...ODD_TEXTS.map(({ name, given, stored }) => stores(name, () => given, stored, ...(given === stored ? [] : ['']))),
  ...JSON_VALUES,
  ...REFUSED_VALUES,
];

/** Those that are stored. */
export const STORED_VALUES: readonly StoredValue[] = ODD_VALUES.filter(isStored);

/** Those that are refused. */
export const REFUSED: readonly RefusedValue[] = ODD_VALUES.filter(isRefused);

/** Whether `value` is stored. */
export function isStored(value: OddValue): value is StoredValue {
  return value.fate.is === 'stored';
}

/** Whether `value` is refused. */
export function isRefused(value: OddValue): value is RefusedValue {
  return value.fate.is === 'refused';
}

/** `value` as the member `key` of an object, for doors that take objects alone. */
export function asMember(value: OddValue, key = 'value'): OddValue {
  return objectOf([[key, value]]);
}

const pointer = (segment: string | number) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`;
const storable = (text: string) => text.toWellFormed().replaceAll('\0', '\uFFFD');

function inside(segment: string | number, { at }: Extract<Fate, { is: 'refused' }>): RefusedAt[] {
  return at.map(({ code, path }) => ({ code, path: path === null ? null : pointer(segment) + path }));
}

function arrayOf(items: readonly OddValue[]): OddValue {
  const at = items.flatMap(({ fate }, place) => (fate.is === 'refused' ? inside(place, fate) : []));
  const stored = items.filter(isStored);
  const paths = items.flatMap(({ fate }, place) =>
    fate.is === 'stored' ? fate.paths.map((path) => pointer(place) + path) : [],
  );
  return {
    name: `[${items.map(({ name }) => name).join(', ')}]`,
    make: () => items.map((item) => item.make()),
    fate:
      at.length > 0 ? { is: 'refused', at } : { is: 'stored', stored: stored.map(({ fate }) => fate.stored), paths },
    isAwaitable: true,
  };
}

function objectOf(entries: readonly (readonly [key: string, item: OddValue])[]): OddValue {
  const at: RefusedAt[] = [];
  const paths = new Set<string>();
  const stored = new Map<string, Json>();
  const seen = new Set<string>();
  for (const [key, { fate, name }] of entries) {
    if (name === 'undefined') continue;
    const path = pointer(storable(key));
    if (seen.has(storable(key))) at.push({ code: 'VALUE_INVALID', path });
    seen.add(storable(key));
    if (storable(key) !== key) paths.add(path);
    if (fate.is === 'refused') at.push(...inside(storable(key), fate));
    else {
      stored.set(storable(key), fate.stored);
      for (const below of fate.paths) paths.add(path + below);
    }
  }
  return {
    name: `{${entries.map(([key, { name }]) => `${JSON.stringify(key)}: ${name}`).join(', ')}}`,
    make: () => Object.fromEntries(entries.map(([key, item]) => [key, item.make()])),
    fate:
      at.length > 0 ? { is: 'refused', at } : { is: 'stored', stored: Object.fromEntries(stored), paths: [...paths] },
    isAwaitable: true,
  };
}

/** Text made of pieces of the odd ones, and of any other characters. */
export const oddText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
      fc.constantFrom(...ODD_TEXTS.map(({ given }) => given).filter(({ length }) => length < 40)),
    ),
    { maxLength: 3 },
  )
  .map((pieces) => pieces.join(''));

const oddKey = fc
  .oneof(oddText, fc.constantFrom('a', 'b', ...KEYS))
  .filter((key) => key !== '__proto__' && key.length <= 20);

function odd(from: readonly OddValue[], depth: number): fc.Arbitrary<OddValue> {
  return fc.letrec<{ value: OddValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: depth, depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(...from),
      oddText.map((text) =>
        stores(JSON.stringify(text), () => text, storable(text), ...(storable(text) === text ? [] : [''])),
      ),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => stores(`${n}`, () => n, n === 0 ? 0 : n)),
      fc.array(tie('value'), { maxLength: 4 }).map(arrayOf),
      fc.uniqueArray(fc.tuple(oddKey, tie('value')), { maxLength: 4, selector: ([key]) => key }).map(objectOf),
    ),
  })).value;
}

/** Any odd value: one of the table, or some of them in arrays and under odd keys. A third of them is refused. */
export const oddValue: fc.Arbitrary<OddValue> = fc.oneof(
  { weight: 2, arbitrary: odd(STORED_VALUES, 3) },
  odd(ODD_VALUES, 3),
);

/** Any odd value that is stored. */
export const storedValue: fc.Arbitrary<StoredValue> = odd(STORED_VALUES, 3).filter(isStored);
