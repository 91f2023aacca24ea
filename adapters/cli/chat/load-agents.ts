import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isTurnlockError, TurnlockError } from '../../../errors.ts';
import type { Agent } from '../../../runtime/define-agent.ts';

/**
 * The agents that a module exports: by default or by name, alone, in an array, or as a promise of either.
 *
 * @throws CONFIG_INVALID when there is no such file, it cannot be loaded, or no agent is in it.
 */
export async function loadAgents(path: string): Promise<Agent[]> {
  const file = resolve(path);
  if (!existsSync(file)) throw refuse(file, 'no file', 'a module that exports an agent');
  const exported = await load(file);
  const agents = [...new Set(exported.flat())].filter(isAgent);
  if (agents.length > 0) return agents;
  throw refuse(file, 'no agent among its exports', 'one made by defineAgent');
}

/**
 * The agent called `name`, or the only one.
 *
 * @throws CONFIG_INVALID when none is called so, or there are several and none is named.
 */
export function pickAgent<Named extends { name: string }>(
  agents: readonly Named[],
  name: string | undefined,
  place: string,
): Named {
  const fitting = name === undefined ? agents : agents.filter((agent) => agent.name === name);
  const [agent, ...others] = fitting;
  if (agent !== undefined && others.length === 0) return agent;
  const names = agents.map((known) => known.name).join(', ');
  throw new TurnlockError('CONFIG_INVALID', {
    message: `agent not found: ${place} (found ${names}, wanted ${name === undefined ? 'one' : `one named ${JSON.stringify(name)}`})`,
    hint: `Pass --name with one of: ${names}.`,
  });
}

async function load(file: string): Promise<unknown[]> {
  try {
    const loaded = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    return await Promise.all(Object.values(loaded));
  } catch (cause) {
    if (isTurnlockError(cause)) throw cause;
    const found = cause instanceof Error ? `${cause.name}: ${cause.message.split('\n', 1)[0]}` : String(cause);
    throw refuse(file, found, 'a module that can be loaded', cause);
  }
}

/** Not `instanceof`: the module may have another copy of the package. What throws when it is looked at is no agent. */
function isAgent(value: unknown): value is Agent {
  try {
    const { name, version, model, tools } = (value ?? {}) as Partial<Agent>;
    const isNamed = typeof name === 'string' && typeof version === 'number';
    return isNamed && typeof model?.generate === 'function' && tools instanceof Map;
  } catch {
    return false;
  }
}

function refuse(file: string, found: string, wanted: string, cause?: unknown): TurnlockError {
  return new TurnlockError('CONFIG_INVALID', {
    message: `agent not accepted: ${file} (found ${found}, wanted ${wanted})`,
    hint: 'Export what defineAgent returns, by default or by name.',
    details: { file },
    cause,
  });
}
