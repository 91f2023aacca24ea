/** A value that is shown: its beginning, and how long it is as a whole, in characters. */
export interface CutValue {
  text: string;
  length: number;
}

/** How much of one value is read for a timeline, in characters. */
export const MAX_SHOWN = 4_096;

/** The expression that cuts a column of text. */
export function cutText(column: string): string {
  return `jsonb_build_object('text', left(coalesce(${column}, ''), ${MAX_SHOWN}), 'length', length(coalesce(${column}, '')))`;
}

/** The expression that cuts a value of JSON, as text with line breaks. Numbers stay as the database has them. */
export function cutJson(value: string): string {
  return cutText(`jsonb_pretty(${value})`);
}

/** Ids as the text of an array. */
export function uuids(ids: readonly string[]): string {
  return `{${ids.join(',')}}`;
}
