import type { CountTokens } from './count-tokens.ts';
import { cutToTokens } from './cut-to-tokens.ts';
import { fittingMemories } from './fitting-memories.ts';
import type { ShownMemory } from './memory-block.ts';

/** Tokens of a summary below which its beginning says nothing. */
const LEAST = 16;

/**
 * The summary, or as much of its beginning as its block has room for in `maxTokens`; none where that is next to nothing. What it tells of is shown
 * nowhere else, so it is cut where a message is long, or the budget less than that of the build that it was written for.
 */
export function fittingSummary(summary: ShownMemory, maxTokens: number, countTokens: CountTokens): ShownMemory[] {
  // What is quoted takes more than it did, so that its room is found by trying.
  for (let tokens = maxTokens; tokens >= LEAST; tokens = Math.floor(tokens * 0.8)) {
    const cut = { ...summary, content: cutToTokens(summary.content, tokens, countTokens) };
    if (fittingMemories([cut], maxTokens, countTokens).memories.length > 0) return [cut];
  }
  return [];
}
