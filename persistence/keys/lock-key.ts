import { createHash } from 'node:crypto';

/**
 * The key of a session's advisory lock: the first 8 bytes of SHA-256 over the JSON array `["lock", session id in lower case]`, read as
 * a signed big-endian integer, in decimal for a `bigint` parameter.
 *
 * Advisory locks are one space per database. Two sessions, or a session and a lock of the application, could in principle share a
 * key: they would then wait for each other, and nothing worse.
 */
export function lockKey(sessionId: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(['lock', sessionId.toLowerCase()]), 'utf8')
    .digest();
  return digest.readBigInt64BE(0).toString();
}
