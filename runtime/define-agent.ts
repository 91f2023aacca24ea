import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Model } from '../adapters/models/model.contract.ts';
import { jsonSchemaOf } from '../adapters/tools/json-schema-of.ts';
import type { InputSchema, Tool } from '../adapters/tools/tool.contract.ts';
import { TurnlockError } from '../errors.ts';
import { checkRunLimits, MAX_CHARACTERS, type RunLimits } from '../limits.ts';
import type { Json } from '../machines/event-content.ts';
import { MEMORY_KINDS } from '../persistence/entities/agent-memory.entity.ts';
import { checkIdentifier, type IdentifierBounds } from '../persistence/values/check-identifier.ts';
import { type AsToolOptions, agentAsTool } from './agent-tool.ts';
import {
  type AgentContext,
  type AgentRecall,
  type AgentRecallOptions,
  type ContextOptions,
  checkContext,
  checkRecall,
} from './context/context-options.ts';

/** What `defineAgent` takes. */
export interface AgentDefinition<Name extends string = string, Output extends InputSchema = InputSchema> {
  /** 1 to 64 characters, none of them U+0000 or a lone surrogate; stands in every session of the agent. */
  name: Name;
  /**
   * A whole number from 1 to 2^31 - 1; default 1. Raise it when builds of the older version must not go on with what this one has begun:
   * with new or removed tools, or other instructions that the history then follows. Sessions of older versions go on with this one, and
   * from then on are left alone by builds of the older.
   */
  version?: number;
  model: Model;
  /** What the model is told about its task: a text, or a function that makes it for every attempt of a model call. */
  instructions: Instructions;
  /** Default none. */
  tools?: readonly Tool[];
  /**
   * What a session of the agent comes to: a Standard Schema that can say itself as JSON Schema. A reply that is JSON and validates is
   * final: it becomes `output`, and the session is COMPLETED. Any other reply is an ordinary one. Default none: no reply is final.
   */
  output?: Output;
  /** Bounds of the agent's runs, in place of the runtime's. Default: those of the runtime. */
  limits?: Partial<RunLimits>;
  /**
   * The budget of what a model is given. What does not fit any more is summarised in background: see docs/memory.md. Default: every model call
   * is given the whole history.
   */
  context?: ContextOptions;
  /**
   * Whether memories of the session's user that fit a message are shown to the model during its run, beside the instructions. Their tokens are
   * counted as those of `context` are. Default: nothing is recalled.
   */
  recall?: boolean | AgentRecallOptions;
}

/** A text, or a function that makes it. */
export type Instructions = string | ((context: InstructionsContext) => string | Promise<string>);

/** Whose session the instructions are for. */
export interface InstructionsContext {
  tenantId: string;
  userId: string;
  sessionId: string;
  runId: string;
  /** The caller's id of the session; `null` when none was given. */
  externalId: string | null;
  /** As given to `createSession`: a copy. */
  metadata: { [name: string]: Json };
  /** Aborts when the attempt's time is over, on cancel, and when the lease is lost. */
  signal: AbortSignal;
}

/** An agent as the runtime holds it: made by `defineAgent`. */
export interface Agent<Output = unknown, Name extends string = string> {
  readonly name: Name;
  readonly version: number;
  readonly model: Model;
  readonly instructions: Instructions;
  /** By name. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** `null`: no reply is final. */
  readonly output: AgentOutput<Output> | null;
  /** Where its runs have other bounds than those of the runtime. */
  readonly limits: Readonly<Partial<RunLimits>>;
  /** `null`: every model call is given the whole history. */
  readonly context: AgentContext | null;
  /** `null`: nothing is recalled. */
  readonly recall: AgentRecall | null;
  /**
   * The agent as a tool of another one. Each call is a session of this agent, a child of the session that asked: its first message is what
   * the params say, and its reply, or its `output` where it declares one, is what the call comes to. The call has no deadline. The runtime that is
   * given the other agent knows this one too.
   *
   * @throws DEFINITION_INVALID, TOOL_NAME_INVALID for options that are not accepted; an agent whose name no tool can have needs `name`.
   */
  asTool<Schema extends InputSchema = InputSchema<{ message: string }>>(options?: AsToolOptions<Schema>): Tool;
}

/** What an agent's sessions come to. */
export interface AgentOutput<Output = unknown> {
  readonly schema: InputSchema<unknown, Output>;
  /** As the model sees it: what it must write. */
  readonly jsonSchema: Record<string, unknown>;
}

const OPTIONS = ['name', 'version', 'model', 'instructions', 'tools', 'output', 'limits', 'context', 'recall'];

/**
 * Defines an agent. Nothing is registered: pass the result to `createRuntime`.
 *
 * @throws DEFINITION_INVALID when an option is not of its kind or not one of these, or two tools share a name.
 */
export function defineAgent<const Name extends string, Output extends InputSchema = never>(
  definition: AgentDefinition<Name, Output>,
): Agent<[Output] extends [never] ? null : StandardSchemaV1.InferOutput<Output>, Name> {
  const { name, version = 1, model, instructions, tools = [], output, limits, context, recall } = definition ?? {};
  checkName(name, { maxCharacters: MAX_CHARACTERS.agentName, name: 'name' });
  const unknown = Object.keys(definition).find((option) => !OPTIONS.includes(option));
  check(unknown === undefined, name, unknown ?? '', `only ${OPTIONS.join(', ')}`);
  check(Number.isInteger(version) && version >= 1 && version < 2 ** 31, name, 'version', 'a whole number from 1 on');
  check(typeof model?.generate === 'function', name, 'model', 'a model');
  checkName(model.modelId, { maxCharacters: MAX_CHARACTERS.modelId, name: 'model.modelId' });
  const isTold = typeof instructions === 'string' || typeof instructions === 'function';
  check(isTold, name, 'instructions', 'text or a function that makes it');
  // Spread: `every` passes over holes.
  check(Array.isArray(tools) && [...tools].every(isTool), name, 'tools', 'an array of tools, each made by defineTool');
  const names = tools.map((tool) => tool.name);
  const doubled = names.find((tool, place) => names.indexOf(tool) !== place);
  check(doubled === undefined, name, 'tools', `names that differ, not two of ${doubled}`);
  const agent: Agent<never, Name> = {
    name,
    version,
    model,
    instructions,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    output: output === undefined ? null : outputOf(name, output as unknown as InputSchema<unknown, never>),
    limits: checked(() => checkRunLimits(limits)),
    context: checkContext(context, (holds, option, wanted) => check(holds, name, option, wanted)),
    recall: checkRecall(recall, MEMORY_KINDS, (holds, option, wanted) => check(holds, name, option, wanted)),
    asTool: (options) => agentAsTool(agent as Agent, options as unknown as AsToolOptions<InputSchema>),
  };
  return agent;
}

function outputOf<Output>(agent: string, schema: InputSchema<unknown, Output>): AgentOutput<Output> {
  return { schema, jsonSchema: jsonSchemaOf(schema as InputSchema, `output of ${JSON.stringify(agent)}`) };
}

function isTool(tool: Tool): boolean {
  return typeof tool?.name === 'string' && typeof tool.execute === 'function' && tool.inputJsonSchema !== undefined;
}

/** Names stand in columns of the schema: what these cannot hold is refused here and not by the database. */
function checkName(value: unknown, bounds: IdentifierBounds): void {
  checked(() => checkIdentifier(value, bounds));
}

/** What `check` comes to; what it refuses is an option of the agent. */
function checked<Result>(check: () => Result): Result {
  try {
    return check();
  } catch (cause) {
    throw new TurnlockError('DEFINITION_INVALID', {
      message: `agent option not accepted: ${(cause as Error).message}`,
      cause,
    });
  }
}

function check(holds: boolean, agent: string, option: string, wanted: string): void {
  if (holds) return;
  throw new TurnlockError('DEFINITION_INVALID', {
    message: `agent option not accepted: ${option} of ${JSON.stringify(agent)} (wanted ${wanted})`,
  });
}
