import { scripted } from '../../../../adapters/models/scripted.ts';
import { type Agent, defineAgent, type Limits, type Tool } from '../../../../index.ts';
import { call, eachRun } from '../../../support/runtime-script.ts';

/** Bounds of every process here: a dead one is noticed within a second, a lost call within five. */
export const LIMITS: Partial<Limits> = { leaseMs: 1_000, heartbeatMs: 300, graceMs: 50, toolTimeoutMs: 5_000 };

/** The agent of every process: a message names the tool that is called, and that waits until it may go. */
export function mcpAgent(tools: readonly Tool[]): Agent {
  const model = scripted((request) => {
    const { text } = request.turns.findLast(({ role }) => role === 'user')!;
    return eachRun({ toolCalls: [call(text, { mode: 'waitForGo' })] }, 'done')(request);
  });
  return defineAgent({ name: 'mcp-worker', model, instructions: 'Do it.', tools });
}
