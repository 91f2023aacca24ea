import { canonicalJson } from './canonical-json.ts';
import { sha256Hex } from './sha256-hex.ts';

/** SHA-256 of the canonical JSON of `value`: 64 hexadecimal digits. Tells a repeat from a conflict. */
export function contentDigest(value: unknown): string {
  return sha256Hex(canonicalJson(value));
}
