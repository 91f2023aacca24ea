import { sha256Hex } from './sha256-hex.ts';

/** What a business key counts within. */
export type ClaimScope = { per: 'tenant' } | { per: 'session'; sessionId: string };

/**
 * The digest of a business key: SHA-256 over the JSON array `["claim", "tenant", key]` or `["claim", "session", session id, key]`, 64
 * hexadecimal digits. Tenant and tool stand beside it in the row.
 */
export function claimDigest(scope: ClaimScope, key: string): string {
  const within = scope.per === 'tenant' ? ['tenant'] : ['session', scope.sessionId.toLowerCase()];
  return sha256Hex(JSON.stringify(['claim', ...within, key]));
}
