import canonicalize from 'canonicalize';
import type { Json } from '../../machines/event-content.ts';

/**
 * The canonical text of a JSON value (RFC 8785): keys sorted by UTF-16 code units, numbers as ECMAScript writes them, no white space.
 * Equal values have equal texts whatever the order of their keys, and `-0` is `0`. Text is compared code point by code point: a
 * composed and a decomposed "é" differ.
 *
 * `value` has been through `normaliseJson`: what JSON cannot hold does not get here.
 */
export function canonicalJson(value: Json): string {
  return canonicalize(value) as string;
}
