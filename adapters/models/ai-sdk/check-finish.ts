import type { Answer } from './answer.ts';
import { brokenAnswer } from './broken-answer.ts';

/** Reasons with which a provider pauses and wants to be asked to go on: the answer is not whole. */
const PAUSES: readonly (string | undefined)[] = ['pause_turn', 'compaction'];

/**
 * Lets a whole answer pass. A call that the model asked for counts only in an answer that came to its end: one that was cut by the
 * bound on tokens may be complete as JSON and still not what the model meant to do.
 *
 * @throws MODEL_FAILED, retryable when the stream broke, not retryable when the same request would end the same way.
 */
export function checkFinish({ parts, finish }: Answer): void {
  const finishReason = finish?.finishReason.unified;
  const raw = finish?.finishReason.raw;
  switch (finishReason) {
    case undefined:
    case 'interrupted':
      throw brokenAnswer('ended without saying why', { retryable: true, finishReason: finishReason ?? 'none' });
    case 'error':
      throw brokenAnswer('ended with an error', { retryable: true, finishReason });
    case 'content-filter':
      throw brokenAnswer('was stopped by the content filter of the provider', {
        retryable: false,
        hint: 'Look at what the user and the tools sent; the same history is stopped again.',
        finishReason,
      });
    case 'length':
      if (holds(parts, 'text') && !holds(parts, 'tool-call')) return;
      throw brokenAnswer('was cut by the bound on tokens', {
        retryable: false,
        hint: 'Raise maxOutputTokens of aiSdk, or ask for less at once.',
        finishReason,
      });
    case 'other':
      if (raw === undefined) throw brokenAnswer('ended without saying why', { retryable: true, finishReason });
  }
  if (!PAUSES.includes(raw)) return;
  throw brokenAnswer('paused in tools of the provider', { retryable: false, finishReason: raw ?? '' });
}

function holds(parts: Answer['parts'], type: 'text' | 'tool-call'): boolean {
  return parts.some((part) => part.type === type && (part.type !== 'text' || part.text.trim() !== ''));
}
