import type { SessionState } from '../../machines/session-state.ts';
import { saltedDigest } from '../keys/salted-digest.ts';
import type { Finding, FindingCode } from './finding.ts';
import type { VerifiedRow } from './read-audit-rows.ts';
import { isReadablePayload } from './read-payload.ts';

/**
 * The version of the form of transitions and payloads. Those of version 1 have no digests of rows; none follows one of a later version.
 */
export const FORMAT_VERSION = 2;

/** Where a chain stands after a row. */
export interface ChainEnd {
  sequence: number;
  state: SessionState;
  hash: string;
  /** The version of its form. */
  formatVersion: number;
}

/** The link of `row` to the one before it, and its own hash. */
export function checkLink(before: ChainEnd, row: VerifiedRow): Finding[] {
  const { sequence, formatVersion, from, previousHash, hash, trueHash } = row;
  const next = before.sequence + 1;
  const checks: (Finding | null)[] = [
    differs('TRANSITION_MISSING', sequence, `transition ${sequence}`, `transition ${next}`),
    differs('LINK_BROKEN', sequence, previousHash, before.hash),
    differs('LINK_BROKEN', sequence, `a begin in ${from}`, `a begin in ${before.state}`),
    differs('HASH_DIFFERS', sequence, hash, trueHash),
    formatVersion >= before.formatVersion && formatVersion <= FORMAT_VERSION
      ? null
      : { code: 'FORMAT_UNKNOWN', sequence, found: `format ${formatVersion}`, wanted: `format ${FORMAT_VERSION}` },
  ];
  return checks.filter((finding) => finding !== null);
}

/** Whether the payload is the one that was hashed. One that was erased is fine: nobody can tell any more. */
export function checkPayload(row: VerifiedRow): Finding[] {
  const { sequence, formatVersion, hasPayload, salt, payload, erasedAt, payloadDigest } = row;
  if (!hasPayload) return [{ code: 'PAYLOAD_MISSING', sequence, found: 'no row', wanted: 'a payload, or its erasure' }];
  if (erasedAt !== null && salt === null && payload === null) return [];
  if (erasedAt !== null) {
    return [{ code: 'PAYLOAD_DIFFERS', sequence, found: 'an erased payload that is there', wanted: 'none' }];
  }
  const finding = differs('PAYLOAD_DIFFERS', sequence, saltedDigest(salt ?? '', payload), payloadDigest);
  if (finding !== null) return [finding];
  if (isReadablePayload(payload, formatVersion)) return [];
  return [{ code: 'FORMAT_UNKNOWN', sequence, found: 'a payload of another form', wanted: `format ${formatVersion}` }];
}

/** A finding where `found` is not `wanted`. */
export function differs(code: FindingCode, sequence: number | null, found: string, wanted: string): Finding | null {
  return found === wanted ? null : { code, sequence, found, wanted };
}
