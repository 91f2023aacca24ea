import { sha256Hex } from './sha256-hex.ts';

/*
 * What belongs to a child follows from the execution that it answers: whoever starts, looks for or cancels it names the same one, and a repeat
 * makes nothing new. Each id is a UUID of version 8 (RFC 9562, section 5.8) from SHA-256 over a JSON array.
 */

/** The session that answers an execution. */
export function childSessionId(executionId: string): string {
  return derivedUuid('child', executionId);
}

/** The run of that session which does it. */
export function childRunId(executionId: string): string {
  return derivedUuid('childRun', executionId);
}

/** The evidence by which the parent learns how that run ended. */
export function childEvidenceId(executionId: string, attempt: number): string {
  return derivedUuid('childEvidence', executionId, attempt);
}

function derivedUuid(...parts: (string | number)[]): string {
  const hex = sha256Hex(JSON.stringify(parts));
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}
