import type { TokenUsage } from './event-content.ts';

/** How many tokens an answer took, as its provider says; 0 where it says nothing of use. */
export function tokensOf({ totalTokens, inputTokens = 0, outputTokens = 0 }: TokenUsage): number {
  const tokens = totalTokens ?? inputTokens + outputTokens;
  return typeof tokens === 'number' && Number.isFinite(tokens) ? tokens : 0;
}
