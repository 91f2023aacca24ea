import { canonicalJson } from './canonical-json.ts';
import { sha256Hex } from './sha256-hex.ts';

/**
 * SHA-256 of the canonical JSON of `[salt, value]`: 64 hexadecimal digits. What the audit's chain holds of a payload: once salt and
 * payload are erased, nobody can find the payload by trying, and the chain still verifies.
 */
export function saltedDigest(salt: string, value: unknown): string {
  return sha256Hex(canonicalJson([salt, value]));
}
