import type { Model } from '../adapters/models/model.contract.ts';
import type { Tool } from '../adapters/tools/tool.contract.ts';
import { TurnlockError } from '../errors.ts';
import { MAX_CHARACTERS } from '../limits.ts';
import { checkIdentifier, type IdentifierBounds } from '../persistence/values/check-identifier.ts';

/** What `defineAgent` takes. */
export interface AgentDefinition {
  /** 1 to 64 characters, none of them U+0000 or a lone surrogate; stands in every session of the agent. */
  name: string;
  /** A whole number from 1 to 2^31 - 1; raise it when sessions of the older version must not go on with this one. Default 1. */
  version?: number;
  model: Model;
  /** What the model is told about its task. */
  instructions: string;
  /** Default none. */
  tools?: readonly Tool[];
}

/** An agent as the runtime holds it: made by `defineAgent`. */
export interface Agent {
  readonly name: string;
  readonly version: number;
  readonly model: Model;
  readonly instructions: string;
  /** By name. */
  readonly tools: ReadonlyMap<string, Tool>;
}

const OPTIONS = ['name', 'version', 'model', 'instructions', 'tools'];

/**
 * Defines an agent. Nothing is registered: pass the result to `createRuntime`.
 *
 * @throws DEFINITION_INVALID when an option is not of its kind or not one of these, or two tools share a name.
 */
export function defineAgent(definition: AgentDefinition): Agent {
  const { name, version = 1, model, instructions, tools = [] } = definition ?? {};
  checkName(name, { maxCharacters: MAX_CHARACTERS.agentName, name: 'name' });
  const unknown = Object.keys(definition).find((option) => !OPTIONS.includes(option));
  check(unknown === undefined, name, unknown ?? '', `only ${OPTIONS.join(', ')}`);
  check(Number.isInteger(version) && version >= 1 && version < 2 ** 31, name, 'version', 'a whole number from 1 on');
  check(typeof model?.generate === 'function', name, 'model', 'a model');
  checkName(model.modelId, { maxCharacters: MAX_CHARACTERS.modelId, name: 'model.modelId' });
  check(typeof instructions === 'string', name, 'instructions', 'text');
  check(Array.isArray(tools) && tools.every(isTool), name, 'tools', 'an array of tools, each made by defineTool');
  const names = tools.map((tool) => tool.name);
  const doubled = names.find((tool, place) => names.indexOf(tool) !== place);
  check(doubled === undefined, name, 'tools', `names that differ, not two of ${doubled}`);
  return { name, version, model, instructions, tools: new Map(tools.map((tool) => [tool.name, tool])) };
}

function isTool(tool: Tool): boolean {
  return typeof tool?.name === 'string' && typeof tool.execute === 'function' && tool.inputJsonSchema !== undefined;
}

/** Names stand in columns of the schema: what these cannot hold is refused here and not by the database. */
function checkName(value: unknown, bounds: IdentifierBounds): void {
  try {
    checkIdentifier(value, bounds);
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
