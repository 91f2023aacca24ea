/** Turns a column's text into a value. */
export type ColumnReader = (text: string) => unknown;

const readers = new Map<number, ColumnReader>([
  [16, (text) => text === 't'], // bool
  [17, (text) => Buffer.from(text.slice(2), 'hex')], // bytea
  [21, Number], // int2
  [23, Number], // int4
  [26, Number], // oid
  [700, Number], // float4
  [701, Number], // float8
  [114, (text) => JSON.parse(text)], // json
  [3802, (text) => JSON.parse(text)], // jsonb
]);

const asText: ColumnReader = (text) => text;

/**
 * The reader for a type's oid. What a number or a Date cannot hold for certain (int8, numeric, times, arrays) stays text, and MikroORM
 * reads it by the property's type. Ours, not those of `pg.types`: a program may have changed them, and PGlite has others.
 */
export function columnReader(oid: number): ColumnReader {
  return readers.get(oid) ?? asText;
}
