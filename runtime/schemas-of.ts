import { schemaDigest } from '../persistence/keys/schema-digest.ts';
import type { ToolSchema } from '../persistence/tool-schemas.ts';
import type { Agent } from './define-agent.ts';

/** The input schemas of every version of every tool of `agents`; not those that another program may change at any time. */
export function schemasOf(agents: ReadonlyMap<string, Agent>): ToolSchema[] {
  return [...agents.values()].flatMap(({ name: agent, tools }) =>
    [...tools.values()]
      .filter((tool) => !tool.hasForeignSchema)
      .flatMap(({ name: tool, versions }) =>
        versions.map(({ jsonSchema }, place) => ({
          agent,
          tool,
          version: place + 1,
          digest: schemaDigest(jsonSchema),
        })),
      ),
  );
}
