import type { Model } from '../adapters/models/model.contract.ts';
import type { Tool } from '../adapters/tools/tool.contract.ts';
import { TurnlockError } from '../errors.ts';

/** What `defineAgent` takes. */
export interface AgentDefinition {
  /** 1 to 64 characters; stands in every session of the agent. */
  name: string;
  /** A whole number from 1 on; raise it when sessions of the older version must not go on with this one. Default 1. */
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

/**
 * Defines an agent. Nothing is registered: pass the result to `createRuntime`.
 *
 * @throws DEFINITION_INVALID when an option is not of its kind, or two tools share a name.
 */
export function defineAgent(definition: AgentDefinition): Agent {
  const { name, version = 1, model, instructions, tools = [] } = definition;
  check(typeof name === 'string' && name.length >= 1 && name.length <= 64, name, 'name', '1 to 64 characters');
  check(Number.isInteger(version) && version >= 1, name, 'version', 'a whole number from 1 on');
  check(typeof model?.generate === 'function', name, 'model', 'a model');
  check(model.modelId.length >= 1 && model.modelId.length <= 64, name, 'model.modelId', '1 to 64 characters');
  check(typeof instructions === 'string', name, 'instructions', 'text');
  const names = tools.map((tool) => tool.name);
  const doubled = names.find((tool, place) => names.indexOf(tool) !== place);
  check(doubled === undefined, name, 'tools', `names that differ, not two of ${doubled}`);
  return { name, version, model, instructions, tools: new Map(tools.map((tool) => [tool.name, tool])) };
}

function check(holds: boolean, agent: string, option: string, wanted: string): void {
  if (holds) return;
  throw new TurnlockError('DEFINITION_INVALID', {
    message: `agent option not accepted: ${option} of ${JSON.stringify(agent)} (wanted ${wanted})`,
  });
}
