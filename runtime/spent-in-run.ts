import { tokensOf } from '../machines/tokens-of.ts';
import type { HistoryTurn } from '../persistence/read-history.ts';

/** What the answers of one run have taken so far. */
export interface Spent {
  tokens: number;
  /** That were asked for, whatever became of them. */
  toolCalls: number;
}

/** Counted from the turns: they are at hand, and hold what was committed. */
export function spentInRun(turns: readonly HistoryTurn[], runId: string): Spent {
  const answers = turns.filter((turn) => turn.role === 'assistant' && turn.runId === runId);
  const calls = answers.flatMap(({ parts }) => parts).filter((part) => (part as { type: string }).type === 'toolCall');
  const tokens = answers.reduce((sum, { tokenUsageJson }) => sum + tokensOf(tokenUsageJson), 0);
  return { tokens, toolCalls: calls.length };
}
