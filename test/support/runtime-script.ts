import { z } from 'zod';
import type { ModelRequest, ModelResponse, ModelToolCall } from '../../adapters/models/model.contract.ts';
import type { OnRepeat, Tool, ToolContext, ToolEffect } from '../../adapters/tools/tool.contract.ts';
import { defineTool, type Policy, type Run, type RunEvent } from '../../index.ts';

interface LooseOptions {
  effect?: ToolEffect;
  repeatable?: boolean;
  onRepeat?: OnRepeat;
  timeoutMs?: number;
  retry?: NonNullable<Parameters<typeof defineTool>[0]['retry']>;
  policy?: Policy;
}

/** A tool that takes any object. */
export function looseTool(
  name: string,
  execute: (params: Record<string, unknown>, context: ToolContext) => unknown,
  more: LooseOptions = {},
): Tool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    inputSchema: z.looseObject({}),
    effect: 'idempotent',
    ...more,
    execute,
  });
}

/** One call, as a model asks for it. */
export function call(toolName: string, input: unknown = {}, more: Partial<ModelToolCall> = {}): ModelToolCall {
  return { toolName, input, ...more };
}

/** A script: the answers of one run, in order, the same for each user message. */
export function eachRun(...answers: (string | ModelResponse)[]): (request: ModelRequest) => string | ModelResponse {
  return ({ turns }) => {
    const since = turns.slice(turns.findLastIndex((turn) => turn.role === 'user'));
    return answers[since.filter((turn) => turn.role === 'assistant').length] ?? 'done';
  };
}

/** A promise with its handles, for tools and models that wait until the test lets them go. */
export function gate<T = void>(): { opened: Promise<T>; open: (value: T) => void } {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Everything that a run shows, once it has ended. */
export async function eventsOf(run: Run): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}
