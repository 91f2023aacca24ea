import { canonicalJson } from './canonical-json.ts';
import { sha256Hex } from './sha256-hex.ts';

/**
 * What makes two refused calls of one tool the same call: SHA-256 over `refused:` and the canonical JSON of what was asked for, 64
 * hexadecimal digits. Refused arguments were never validated, so they must not share a digest, nor a key, with params that were: the
 * hashed text is no JSON, which the text behind a `paramsDigest` always is.
 */
export function refusedDigest(asked: unknown): string {
  return sha256Hex(`refused:${canonicalJson(asked)}`);
}
