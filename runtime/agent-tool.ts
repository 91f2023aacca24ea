import type { StandardSchemaV1 } from '@standard-schema/spec';
import { z } from 'zod';
import { defineTool } from '../adapters/tools/define-tool.ts';
import type { Policy } from '../adapters/tools/policy.ts';
import type { InputSchema, OnRepeat, Tool } from '../adapters/tools/tool.contract.ts';
import { TurnlockError } from '../errors.ts';
import { kindOf } from '../persistence/values/kind-of.ts';
import type { Agent } from './define-agent.ts';
import { forgetPromise } from './forget-promise.ts';

/** What `agent.asTool` takes. */
export interface AsToolOptions<Schema extends InputSchema = InputSchema<{ message: string }>> {
  /** As of `defineTool`. Default: the agent's name, where a tool may have it. */
  name?: string;
  /** What the agent does, for the model that asks it. Default: that it asks the agent of this name. */
  description?: string;
  /** What the model gives. Default: `{ message }`. Another one needs `message`. */
  inputSchema?: Schema;
  /**
   * The message that the agent is sent, made of the params: text that is not empty, and no promise of one. Runs outside any transaction.
   * Where it makes none, or throws, the call fails with PARAMS_INVALID.
   */
  message?: (params: StandardSchemaV1.InferOutput<Schema>) => string;
  /** Whether identical calls of one assistant turn are sessions of their own. Default false: one answers them all. */
  repeatable?: boolean;
  /** What comes of a call that repeats one of its run, as of `defineTool`. Default `ask`. */
  onRepeat?: OnRepeat;
  /** Judges each call before its session begins, as of `defineTool`. Default: all may. */
  policy?: Policy<StandardSchemaV1.InferOutput<Schema>>;
}

/** A tool that is another agent: each call is a session of it. */
export interface AgentTool extends Tool {
  readonly child: { readonly agent: Agent; message(params: unknown): string };
}

/** The agent that answers a tool's calls; `null` for a tool that runs here. */
export function childOf(tool: Tool | undefined): AgentTool['child'] | null {
  return (tool as Partial<AgentTool> | undefined)?.child ?? null;
}

const OPTIONS = ['name', 'description', 'inputSchema', 'message', 'repeatable', 'onRepeat', 'policy'];

/** See `Agent.asTool`. */
export function agentAsTool(agent: Agent, options: AsToolOptions<InputSchema> = {}): Tool {
  if (typeof options !== 'object' || options === null) throw refused(agent, 'options', 'an object');
  const unknown = Object.keys(options).find((option) => !OPTIONS.includes(option));
  if (unknown !== undefined) throw refused(agent, unknown, `only ${OPTIONS.join(', ')}`);
  const { name = agent.name, description = `Asks the agent ${agent.name}.`, repeatable = false } = options;
  const { policy, onRepeat = 'ask' } = options;
  const rule = { onRepeat, ...(policy === undefined ? {} : { policy }) };
  const { inputSchema = z.object({ message: z.string() }) as unknown as InputSchema, message } = options;
  const isMade = typeof message === 'function' || (message === undefined && options.inputSchema === undefined);
  if (!isMade) throw refused(agent, 'message', 'a function that makes the message of the params');
  const base = defineTool({ name, description, inputSchema, repeatable, ...rule, execute: notRun });
  const say = message ?? ((params: unknown) => (params as { message: string }).message);
  const tool: AgentTool = {
    ...base,
    effect: 'reconcilable',
    child: { agent, message: (params) => textOf(say(params)) },
  };
  return tool;
}

/** A message without a word would leave a model nothing to answer. */
function textOf(message: unknown): string {
  if (typeof message === 'string' && message !== '') return message;
  forgetPromise(message);
  throw new TurnlockError('PARAMS_INVALID', {
    message: `no message came of the params (found ${message === '' ? 'an empty text' : kindOf(message)}, wanted text)`,
  });
}

function notRun(): never {
  throw new TurnlockError('INVARIANT_BROKEN', {
    message: 'a tool that is an agent was called: its child session answers',
  });
}

function refused({ name }: Agent, option: string, wanted: string): TurnlockError {
  return new TurnlockError('DEFINITION_INVALID', {
    message: `asTool option not accepted: ${option} of ${JSON.stringify(name)} (wanted ${wanted})`,
  });
}
