import { canonicalJson } from './canonical-json.ts';
import { sha256Hex } from './sha256-hex.ts';

/** Keywords that say nothing about which values fit. `default` is not among them: it changes what a validator makes of a value. */
const COSMETIC = new Set(['$schema', '$id', '$comment', 'title', 'description', 'examples', 'deprecated']);

/** Keywords whose values are schemas by names of the user's. */
const BY_NAME = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);

/** Keywords whose values are lists in which order means nothing. */
const UNORDERED = new Set(['required', 'enum', 'type']);

/** Keywords whose values are data and no schemas. */
const DATA = new Set(['const', 'default']);

/**
 * What makes two JSON Schemas the same for stored params: SHA-256 of their canonical JSON, without what is only there to be read and
 * without the order of lists that are sets. Another text for the model, or properties in another order, are the same schema.
 */
export function schemaDigest(jsonSchema: unknown): string {
  return sha256Hex(canonicalJson(stripped(jsonSchema)));
}

function stripped(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(stripped);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([keyword, value]) => !COSMETIC.has(keyword) && value !== undefined);
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, strippedValue(keyword, value)]));
}

function strippedValue(keyword: string, value: unknown): unknown {
  if (DATA.has(keyword)) return value;
  if (UNORDERED.has(keyword) && Array.isArray(value)) return [...value].sort(byText);
  if (!BY_NAME.has(keyword) || typeof value !== 'object' || value === null) return stripped(value);
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, stripped(schema)]));
}

function byText(a: unknown, b: unknown): number {
  const [one, other] = [canonicalJson(a), canonicalJson(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}
