import type { CountTokens } from './count-tokens.ts';
import { blockParts, type ShownMemory, toElement } from './memory-block.ts';

/** The memories that fit into `maxTokens`, in their order, and what their block takes. One that does not fit keeps no later one out. */
export function fittingMemories(
  memories: readonly ShownMemory[],
  maxTokens: number,
  countTokens: CountTokens,
): { memories: ShownMemory[]; tokens: number } {
  const fitting: ShownMemory[] = [];
  let tokens = 0;
  for (const memory of memories) {
    const element = countTokens(toElement(memory)) + 1;
    const joined = tokens + element + (fitting.length === 0 ? frameTokens(memory, countTokens) : 0);
    if (joined > maxTokens) continue;
    fitting.push(memory);
    tokens = joined;
  }
  return { memories: fitting, tokens };
}

/** Tokens of what stands around the memories. */
function frameTokens(memory: ShownMemory, countTokens: CountTokens): number {
  const [head = '', , end = ''] = blockParts([memory]);
  return countTokens(head) + countTokens(end) + 2;
}
