import { createHash } from 'node:crypto';
import { types } from 'node:util';
import { isTurnlockError } from '../../errors.ts';
import type { Json } from '../../machines/event-content.ts';
import { contentDigest } from '../keys/content-digest.ts';
import { kindOf } from './kind-of.ts';
import { normaliseJson } from './normalise-json.ts';

/** What is measured and digested at all, a second's work; beyond it the placeholder says `null` rather than hold up the commit. */
const MEASURED = { maxBytes: 64 * 1024 * 1024, maxDepth: 1_000, maxValues: 250_000, name: 'output' };

/** Stands in an execution's row for an output that could not be stored. The tool did run. */
export interface OutputPlaceholder {
  notStored: true;
  /** For the model and for people. */
  says: string;
  /** The code of what refused it. */
  reason: string;
  /** What kind of value it was. */
  kind: string;
  /** Bytes of its JSON, or of its content where it is binary; `null` where that cannot be told. */
  sizeBytes: number | null;
  /** `sha256:` and the digest of its canonical JSON, or of its content where it is binary; `null` where that cannot be told. */
  digest: string | null;
}

/**
 * The truthful placeholder for an `output` that `refusal` says cannot be stored: kind, size and digest. The call counts as a success
 * and is not run again; the digest lets a person recognise the output elsewhere. Never throws, whatever the output is.
 */
export function placeholderFor(output: unknown, refusal: unknown): Json {
  const { sizeBytes, digest } = measureBinary(output) ?? measureJson(output);
  const known = isTurnlockError(refusal) ? refusal : null;
  const placeholder: OutputPlaceholder = {
    notStored: true,
    says: `The call succeeded, but its output could not be stored.${known === null ? '' : ` Reason: ${known.message}`}`,
    reason: known?.code ?? 'VALUE_INVALID',
    kind: kindOf(output),
    sizeBytes,
    digest,
  };
  return { ...placeholder };
}

interface Measure {
  sizeBytes: number | null;
  digest: string | null;
}

function measureBinary(output: unknown): Measure | null {
  try {
    const bytes = bytesOf(output);
    if (bytes === null) return null;
    return { sizeBytes: bytes.byteLength, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` };
  } catch {
    return { sizeBytes: null, digest: null };
  }
}

/** `instanceof` would ask a proxy for its prototype, and a proxy may throw. */
function bytesOf(output: unknown): Uint8Array | null {
  if (ArrayBuffer.isView(output)) return new Uint8Array(output.buffer, output.byteOffset, output.byteLength);
  return types.isAnyArrayBuffer(output) ? new Uint8Array(output) : null;
}

function measureJson(output: unknown): Measure {
  try {
    const { value, bytes } = normaliseJson(output, MEASURED);
    return { sizeBytes: bytes, digest: `sha256:${contentDigest(value)}` };
  } catch {
    return { sizeBytes: null, digest: null };
  }
}
