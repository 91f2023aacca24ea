import { strictest } from '../../adapters/tools/policy.ts';
import type { Tool, ToolContext } from '../../adapters/tools/tool.contract.ts';
import { INSIDE_COMMIT } from '../../environment.ts';
import type { Subject } from '../subject.ts';
import { presentCall } from './present-call.ts';
import type { KitProcess } from './process.ts';
import { shown } from './shown.ts';
import type { Timeline } from './timeline.ts';

/** Who watches what tools do. */
export interface Watch {
  timeline: Timeline;
  /** Notes what has changed in the world since the last look. */
  look(process: number): void;
  called(call: ToolCall): void;
  reconciled(executionId: string): void;
  /** What `reconcile` of a tool has answered. */
  verdict(tool: Tool, answer: unknown): void;
  /** Calls of `execute` that have not come back, but for those inside a commit. */
  out: Set<ToolCall>;
}

/** One call of `execute`. */
export interface ToolCall {
  tool: Tool;
  params: unknown;
  context: ToolContext;
  process: KitProcess;
}

/** `tool` as one process has it: watched, and without any effect once the process is dead. */
export function watchedTool(tool: Tool, process: KitProcess, policy: Subject<unknown>['policy'], watch: Watch): Tool {
  const watched = async (
    name: string,
    params: unknown,
    context: ToolContext,
    work: () => unknown,
  ): Promise<unknown> => {
    const { timeline } = watch;
    timeline.note(process.number, () => `${name}(${shown(params)}) is called, attempt ${context.attempt}`);
    process.busy += 1;
    try {
      const { sessionId, executionId } = context;
      const detail = tool.effect === 'transactional' ? { detail: INSIDE_COMMIT } : {};
      const value = await presentCall.run({ sessionId, executionId, ...detail }, async () => work());
      watch.look(process.number);
      timeline.note(process.number, () => `${name} returns ${shown(value)}`);
      return value;
    } catch (error) {
      watch.look(process.number);
      timeline.note(process.number, () => `${name} throws ${nameOf(error)}`);
      throw error;
    } finally {
      process.busy -= 1;
    }
  };
  const { reconcile } = tool;
  return {
    ...tool,
    policy: both(tool, policy),
    execute: async (params, context) => {
      const call = { tool, params, context, process };
      watch.called(call);
      if (tool.effect !== 'transactional') watch.out.add(call);
      try {
        return await watched(tool.name, params, context, () => tool.execute(params, context));
      } finally {
        watch.out.delete(call);
      }
    },
    reconcile:
      reconcile === null
        ? null
        : async (params, context) => {
            watch.reconciled(context.executionId);
            const ask = () => reconcile(params, context);
            const answer = await watched(`reconcile of ${tool.name}`, params, context, ask);
            watch.verdict(tool, answer);
            return answer;
          },
  };
}

/** The stricter one of the tool's own policy and the one above all tools. */
function both(tool: Tool, policy: Subject<unknown>['policy']): Tool['policy'] {
  if (policy === undefined) return tool.policy;
  const above: NonNullable<Tool['policy']> = (params, { toolName, tenantId, userId }) =>
    policy(params, { toolName, tenantId, userId });
  return tool.policy === null ? above : strictest(above, tool.policy);
}

function nameOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : shown(error);
  } catch {
    return 'what cannot be shown';
  }
}
