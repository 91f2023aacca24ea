import type { ErrorCode } from '../errors.ts';
import type { RunLimits } from '../limits.ts';
import type { TokenUsage } from '../machines/event-content.ts';
import { tokensOf } from '../machines/tokens-of.ts';
import type { DriveContext } from './drive-context.ts';
import type { Spent } from './spent-in-run.ts';

/** A bound that a run has come to. */
export interface MetLimit {
  code: ErrorCode;
  message: string;
}

/** Why the model may not be asked once more in this run; `null` where it may. */
export function mayNotAsk(
  { actor, limits }: Pick<DriveContext, 'actor' | 'limits'>,
  { tokens }: Spent,
): MetLimit | null {
  const { maxModelCallsPerRun } = limits;
  if (actor.committed().snapshot.context.modelCalls >= maxModelCallsPerRun) {
    const message = `The run made ${maxModelCallsPerRun} model calls, which is the limit.`;
    return { code: 'LIMIT_MODEL_CALLS', message };
  }
  return tokens >= limits.maxTokensPerRun ? tokensUsed(tokens, limits) : null;
}

/** Why none of the calls of an answer may begin; `null` where they may, or there are none. An answer without calls only ends the run. */
export function mayNotCall(limits: RunLimits, spent: Spent, toolCalls: number, usage: TokenUsage): MetLimit | null {
  if (toolCalls === 0) return null;
  const { maxToolCallsPerTurn, maxToolCallsPerRun, maxTokensPerRun } = limits;
  if (toolCalls > maxToolCallsPerTurn) {
    const message = `The model asked for ${toolCalls} calls in one turn; the limit is ${maxToolCallsPerTurn}.`;
    return { code: 'LIMIT_TOOL_CALLS', message };
  }
  const asked = spent.toolCalls + toolCalls;
  if (asked > maxToolCallsPerRun) {
    const message = `The model asked for ${asked} calls in the run; the limit is ${maxToolCallsPerRun}.`;
    return { code: 'LIMIT_RUN_TOOL_CALLS', message };
  }
  const tokens = spent.tokens + tokensOf(usage);
  return tokens >= maxTokensPerRun ? tokensUsed(tokens, limits) : null;
}

function tokensUsed(tokens: number, { maxTokensPerRun }: RunLimits): MetLimit {
  return { code: 'LIMIT_TOKENS', message: `The run used ${tokens} tokens; the limit is ${maxTokensPerRun}.` };
}
