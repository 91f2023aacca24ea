import type { Agent } from '../define-agent.ts';
import { type CountTokens, checkedCount } from './count-tokens.ts';
import { loadTokenizer } from './load-tokenizer.ts';

/**
 * What counts the tokens of each agent that has a budget, or one for what it recalls, by name. The tokenizer's package is loaded only where one of them needs it.
 *
 * @throws OPTIONS_INVALID when it is not installed.
 */
export async function countersOf(agents: ReadonlyMap<string, Agent>): Promise<ReadonlyMap<string, CountTokens>> {
  const counters = new Map<string, CountTokens>();
  for (const { name, context, recall } of agents.values()) {
    if (context == null && recall == null) continue;
    const own = context?.countTokens ?? null;
    counters.set(name, own === null ? await loadTokenizer() : checkedCount(own, name));
  }
  return counters;
}
