import { childOf } from './agent-tool.ts';
import { optionRefused } from './check-query.ts';
import type { Agent } from './define-agent.ts';

/**
 * The agents of a runtime by name, with those that are tools of others.
 *
 * @throws OPTIONS_INVALID for what is no agent, for none, and for two of one name.
 */
export function checkAgents(agents: readonly Agent[]): ReadonlyMap<string, Agent> {
  if (!Array.isArray(agents) || agents.length === 0) throw optionRefused('agents', 'at least one agent');
  for (const agent of agents) if (!isAgent(agent)) throw optionRefused('agents', 'agents, each made by defineAgent');
  const byName = new Map((agents as Agent[]).map((agent) => [agent.name, agent]));
  if (byName.size !== agents.length) throw optionRefused('agents', 'agents whose names differ');
  for (const agent of agents as Agent[]) addChildren(agent, byName);
  return byName;
}

/** Agents that are tools of others come with them. */
function addChildren({ name, tools }: Agent, byName: Map<string, Agent>): void {
  for (const tool of tools.values()) {
    const agent = childOf(tool)?.agent;
    if (agent === undefined) continue;
    const known = byName.get(agent.name);
    if (known !== undefined && known !== agent) {
      const versions = known.version === agent.version ? 'another one of this name' : `version ${known.version}`;
      const wanted = `one agent ${JSON.stringify(agent.name)}, not version ${agent.version} as tool of ${JSON.stringify(name)} beside ${versions}`;
      throw optionRefused('agents', wanted);
    }
    byName.set(agent.name, agent);
    if (known === undefined) addChildren(agent, byName);
  }
}

function isAgent(agent: unknown): agent is Agent {
  const { name, model, tools } = (agent ?? {}) as Partial<Agent>;
  return typeof name === 'string' && typeof model?.generate === 'function' && typeof tools?.get === 'function';
}
