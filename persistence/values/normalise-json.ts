import { isTurnlockError } from '../../errors.ts';
import type { Json } from '../../machines/event-content.ts';
import { JsonWalk } from './json-walk.ts';
import { refuseValue } from './refuse-value.ts';

/** A JSON value as it is stored. */
export interface NormalisedJson {
  value: Json;
  /** Paths at which characters were replaced, each from `/name` on; empty when none were. */
  notes: string[];
  /** Bytes of UTF-8 of `value` as JSON without white space. */
  bytes: number;
}

/** Bounds of a JSON value. */
export interface JsonBounds {
  /** Bytes of UTF-8 as JSON without white space, inclusive. */
  maxBytes: number;
  /** Levels of arrays and objects within each other, inclusive; a bare value has 0. */
  maxDepth: number;
  /** Values within, arrays and objects among them, inclusive. Default: as many as the bytes hold. */
  maxValues?: number;
  /** What the value is, the first part of every path. */
  name: string;
}

/**
 * The storable form of `value`: a deep copy that equals what is read back, in value and in the order of keys (jsonb keeps them by
 * length, then by bytes). U+0000 and lone surrogates in texts and keys become U+FFFD, which `notes` tells; `-0` becomes `0`, as
 * JSON reads it; properties that are `undefined` are left out, as JSON.stringify does. Normalising the result changes nothing.
 *
 * Everything else that JSON cannot hold is refused, never changed in silence: `undefined` as the value or in an array, holes, BigInt,
 * NaN, infinities, functions, symbols, dates, maps, sets, buffers and other instances, accessors, cycles, `__proto__` keys, and keys
 * that become the same. No code of the value runs: no getter, no `toJSON`.
 *
 * @throws VALUE_INVALID with the path of what cannot be stored.
 * @throws VALUE_TOO_LARGE when it has more bytes, levels or values than the bounds.
 */
export function normaliseJson(value: unknown, bounds: JsonBounds): NormalisedJson {
  const walk = new JsonWalk(bounds);
  try {
    const copy = walk.copy(value);
    return { value: copy, notes: walk.notes.toArray(), bytes: walk.bytes };
  } catch (error) {
    if (isTurnlockError(error)) throw error;
    // Only a proxy can throw here, out of one of its traps.
    throw refuseValue(walk.segments, 'a value that cannot be read');
  }
}
