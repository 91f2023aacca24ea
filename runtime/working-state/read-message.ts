import type { DeltaMessage } from './delta-channel.contract.ts';

/** A message as it came over a channel; `null` for what is none: another build may have sent it, or somebody else. */
export function readMessage(given: unknown): DeltaMessage | null {
  if (typeof given !== 'object' || given === null) return null;
  const { type, kind, text, runId, attempt, token, from, after, at } = given as Record<string, unknown>;
  if (type === 'asked') return { type };
  if (type !== 'piece' || (kind !== 'text' && kind !== 'reasoning')) return null;
  if (typeof text !== 'string' || typeof runId !== 'string') return null;
  if (!isCount(attempt) || !isCount(token) || !isCount(from) || !isCount(after) || !isCount(at)) return null;
  return { type, kind, text, runId, attempt, token, from, after, at };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
