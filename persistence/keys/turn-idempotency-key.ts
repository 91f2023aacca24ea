import { sha256Hex } from './sha256-hex.ts';

/** What a tool execution's idempotency key is made from. Tool version and the provider's call id stay out. */
export interface TurnKeyParts {
  sessionId: string;
  /** Index of the assistant turn that made the call: committed before the tool runs, so it does not shift on resume. */
  turnIndex: number;
  toolName: string;
  /** From `paramsDigest`. */
  digest: string;
  /** Place of the call among the turn's calls, for a tool that is `repeatable`; absent elsewhere, so that identical calls are one. */
  ordinal?: number;
}

/** Version of the derivation: a change of it must not turn old keys into new ones. */
const PREFIX = 'tl1_';

/**
 * The idempotency key of a call: `tl1_` and SHA-256 over the JSON array `["turn", session id, turn index, tool name, digest]`, with
 * the ordinal as a sixth element for a repeatable tool; 68 characters of `[a-z0-9_]`. An array, so that no two inputs run together.
 */
export function turnIdempotencyKey({ sessionId, turnIndex, toolName, digest, ordinal }: TurnKeyParts): string {
  const parts = ['turn', sessionId.toLowerCase(), turnIndex, toolName, digest];
  return PREFIX + sha256Hex(JSON.stringify(ordinal === undefined ? parts : [...parts, ordinal]));
}
