import { kindOf } from './kind-of.ts';
import { refuseSize, refuseValue } from './refuse-value.ts';
import { replaceUnstorable } from './replace-unstorable.ts';
import { truncateText } from './truncate-text.ts';

/** Text as it is stored. */
export interface NormalisedText {
  value: string;
  /** `/name` when characters were replaced; empty otherwise. */
  notes: string[];
}

/** Bounds of a text. */
export interface TextBounds {
  /** Bytes of UTF-8, inclusive, after replacement. */
  maxBytes: number;
  /** What the text is, for paths and messages. */
  name: string;
}

/**
 * The storable form of `text`: U+0000 and lone surrogates become U+FFFD, which `notes` tells. Nothing else changes, so the result is
 * what is read back, and normalising it again changes nothing. With `truncate`, longer text is cut and says so.
 *
 * @throws VALUE_INVALID when it is no text.
 * @throws VALUE_TOO_LARGE when it is longer than `maxBytes`, unless it is to be truncated.
 */
export function normaliseText(
  text: string,
  { maxBytes, name }: TextBounds,
  whenTooLarge: 'refuse' | 'truncate' = 'refuse',
): NormalisedText {
  if (typeof text !== 'string') throw refuseValue([name], kindOf(text), 'text');
  const value = replaceUnstorable(text);
  const notes = value === text ? [] : [`/${name}`];
  if (Buffer.byteLength(value) <= maxBytes) return { value, notes };
  if (whenTooLarge === 'refuse') throw refuseSize([name], maxBytes, 'bytes');
  return { value: truncateText(value, maxBytes), notes };
}
