import canonicalize from 'canonicalize';
import { TurnlockError } from '../../errors.ts';

/**
 * The canonical text of a JSON value (RFC 8785): keys sorted by UTF-16 code units, numbers as ECMAScript writes them, no white space.
 * Equal values have equal texts whatever the order of their keys, and `-0` is `0`. Text is compared code point by code point: a
 * composed and a decomposed "é" differ.
 *
 * `value` has been through `normaliseJson`, or is made of such values: this is not where values are checked.
 *
 * @throws INVARIANT_BROKEN for what has no canonical text.
 */
export function canonicalJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch (cause) {
    throw notNormalised(cause);
  }
  if (text === undefined) throw notNormalised();
  return text;
}

function notNormalised(cause?: unknown): TurnlockError {
  return new TurnlockError('INVARIANT_BROKEN', {
    message: 'value has no canonical form: a digest (found what JSON cannot hold, wanted a normalised value)',
    cause,
  });
}
