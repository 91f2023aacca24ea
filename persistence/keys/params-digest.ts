import { contentDigest } from './content-digest.ts';

/**
 * What makes two calls of one tool the same call: SHA-256 of the canonical JSON (RFC 8785) of the params after validation, 64
 * hexadecimal digits. `{a,b}` and `{b,a}` are the same, so are `1` and `1.0`; `"1"` and `1` differ, and so do a composed and a
 * decomposed "é".
 */
export function paramsDigest(params: unknown): string {
  return contentDigest(params);
}
