import { kindOf } from './kind-of.ts';
import { refuseSize, refuseValue } from './refuse-value.ts';
import { replaceUnstorable } from './replace-unstorable.ts';

/** What an identifier of the caller's is. */
export interface IdentifierBounds {
  /** Name for paths and messages. */
  name: string;
  /** Characters (code points, as `varchar` counts them), inclusive. */
  maxCharacters: number;
}

/**
 * `value`, an identifier that the caller chose: a tenant, a user, a message id. Unlike content it is never changed: replacing
 * characters could make two identities one.
 *
 * @throws VALUE_INVALID when it is no text, is empty, or holds U+0000 or a lone surrogate.
 * @throws VALUE_TOO_LARGE when it has more characters.
 */
export function checkIdentifier(value: unknown, { name, maxCharacters }: IdentifierBounds): string {
  if (typeof value !== 'string') throw refuseValue([name], kindOf(value), 'text');
  if (value === '') throw refuseValue([name], 'empty text', `1 to ${maxCharacters} characters`);
  if (replaceUnstorable(value) !== value) {
    throw refuseValue([name], 'U+0000 or a lone surrogate', 'characters that can be stored');
  }
  if (value.length > maxCharacters && [...value].length > maxCharacters) {
    throw refuseSize([name], maxCharacters, 'characters');
  }
  return value;
}
