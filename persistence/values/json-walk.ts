import type { Json } from '../../machines/event-content.ts';
import { compareJsonbKeys } from './compare-jsonb-keys.ts';
import { isPlainArray, isPlainObject } from './is-plain.ts';
import { kindOf } from './kind-of.ts';
import type { JsonBounds } from './normalise-json.ts';
import { NotePaths } from './note-paths.ts';
import { refuseSize, refuseValue } from './refuse-value.ts';
import { replaceUnstorable } from './replace-unstorable.ts';

/**
 * One walk over a value. It reads every property once, by its descriptor, so no code of the value runs (traps of a proxy excepted) and
 * what was checked is what is copied. It counts bytes as it goes, so that it stops early however often parts are shared.
 */
export class JsonWalk {
  readonly notes = new NotePaths();
  /** Where the walk stands; after an error, where it failed. */
  readonly segments: (string | number)[];
  bytes = 0;
  readonly #bounds: JsonBounds;
  readonly #containers = new Set<object>();
  #values = 0;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
    this.segments = [bounds.name];
  }

  copy(value: unknown): Json {
    this.#values += 1;
    const { maxValues = Infinity, name } = this.#bounds;
    if (this.#values > maxValues) throw refuseSize([name], maxValues, 'values');
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'number':
        return this.#number(value);
      case 'boolean':
        this.#count(value ? 4 : 5);
        return value;
      case 'object':
        if (value !== null) return this.#container(value);
        this.#count(4);
        return null;
      default:
        throw refuseValue(this.segments, kindOf(value));
    }
  }

  #container(value: object): Json {
    if (this.#containers.has(value)) throw refuseValue(this.segments, 'a cycle');
    if (this.#containers.size >= this.#bounds.maxDepth)
      throw refuseSize(this.segments, this.#bounds.maxDepth, 'levels');
    this.#containers.add(value);
    this.#count(2);
    const copy = isPlainArray(value) ? this.#array(value) : this.#object(value);
    this.#containers.delete(value);
    return copy;
  }

  #array(value: unknown[]): Json[] {
    const { length } = value;
    this.#count(Math.max(0, length - 1));
    this.#refuseExtras(value, length);
    const copy: Json[] = [];
    for (let index = 0; index < length; index += 1) {
      copy.push(this.#member(Object.getOwnPropertyDescriptor(value, index), index));
    }
    return copy;
  }

  /** Properties of an array beside its elements: JSON would drop them in silence. They come last in the order of keys. */
  #refuseExtras(value: unknown[], length: number): void {
    const last = Object.keys(value).at(-1);
    if (last !== undefined && !(String(Number(last) >>> 0) === last && Number(last) < length)) {
      throw refuseValue([...this.segments, replaceUnstorable(last)], 'a property of an array', 'elements alone');
    }
    this.#refuseSymbols(value);
  }

  #object(value: object): { [name: string]: Json } {
    if (!isPlainObject(value)) {
      throw refuseValue(this.segments, kindOf(value), 'a plain object, a plain array or a bare value');
    }
    this.#refuseSymbols(value);
    const members = this.#membersOf(value);
    this.#count(Math.max(0, members.size - 1));
    const copy: { [name: string]: Json } = {};
    for (const name of [...members.keys()].sort(compareJsonbKeys)) copy[name] = this.#member(members.get(name), name);
    return copy;
  }

  /** The properties to copy, under the names that they are stored with; those that are `undefined` are left out. */
  #membersOf(value: object): Map<string, PropertyDescriptor> {
    const members = new Map<string, PropertyDescriptor>();
    for (const key of Object.keys(value)) {
      const descriptor = Object.getOwnPropertyDescriptor(value, key);
      if (descriptor === undefined || isUndefined(descriptor)) continue;
      const name = replaceUnstorable(key);
      this.segments.push(name);
      if (key === '__proto__') throw refuseValue(this.segments, 'the key __proto__', 'another key');
      if (members.has(name))
        throw refuseValue(this.segments, 'two keys that become one', 'keys that differ when stored');
      if (name !== key) this.notes.add(this.segments);
      this.#countText(name, 1);
      this.segments.pop();
      members.set(name, descriptor);
    }
    return members;
  }

  #member(descriptor: PropertyDescriptor | undefined, name: string | number): Json {
    this.segments.push(name);
    if (descriptor === undefined) throw refuseValue(this.segments, 'a hole', 'an element');
    if (!('value' in descriptor)) throw refuseValue(this.segments, 'an accessor');
    const copy = this.copy(descriptor.value);
    this.segments.pop();
    return copy;
  }

  #refuseSymbols(value: object): void {
    for (const symbol of Object.getOwnPropertySymbols(value)) {
      if (Object.prototype.propertyIsEnumerable.call(value, symbol))
        throw refuseValue(this.segments, 'a key that is a symbol');
    }
  }

  #text(value: string): string {
    const text = replaceUnstorable(value);
    if (text !== value) this.notes.add(this.segments);
    this.#countText(text, 0);
    return text;
  }

  #number(value: number): number {
    if (!Number.isFinite(value)) throw refuseValue(this.segments, kindOf(value));
    const number = value === 0 ? 0 : value; // JSON reads -0 as 0, so it is 0 from the start
    this.#count(String(number).length);
    return number;
  }

  /** Bytes of `text` as a JSON string, and `more`. The length comes first: a text far too long is not written out to be measured. */
  #countText(text: string, more: number): void {
    if (text.length + 2 + this.bytes > this.#bounds.maxBytes) this.#count(text.length + 2);
    this.#count(Buffer.byteLength(JSON.stringify(text)) + more);
  }

  #count(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.#bounds.maxBytes) throw refuseSize([this.#bounds.name], this.#bounds.maxBytes, 'bytes');
  }
}

function isUndefined(descriptor: PropertyDescriptor): boolean {
  return 'value' in descriptor && descriptor.value === undefined;
}
