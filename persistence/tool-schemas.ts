import type { EntityManager } from '@mikro-orm/postgresql';
import { TurnlockError } from '../errors.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { Store } from './session-transaction.ts';

/** The schema of one version of a tool of an agent. */
export interface ToolSchema {
  agent: string;
  tool: string;
  version: number;
  digest: string;
}

/**
 * Compares `schemas` with those that were recorded under the same agent, tool and version, and records those that are new. Any number of
 * processes may do so at once: of two that bring different schemas for a new version, one records and the other is refused.
 *
 * @throws TOOL_SCHEMA_CHANGED when one has another schema than was recorded: stored calls of that version would be read with the wrong one.
 */
export async function recordToolSchemas(store: Store, schemas: readonly ToolSchema[]): Promise<void> {
  if (schemas.length === 0) return;
  await inPatientTransaction(store, { tenantId: '' }, async (em) => {
    const known = await compare(em, schemas);
    const missing = schemas.filter((schema) => !known.has(nameOf(schema)));
    if (missing.length === 0) return;
    // In one order, so that no two processes wait for each other; whoever is second waits, and then reads what the first one wrote.
    const rows = [...missing].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    await em.execute(
      `insert into turnlock.agent_tool_versions (agent_name, tool_name, tool_version, schema_digest, created_at)
        select agent, tool, version, digest, turnlock.turnlock_now()
          from jsonb_to_recordset(?::jsonb) as given (agent text, tool text, version int, digest text)
        on conflict do nothing`,
      [JSON.stringify(rows)],
    );
    await compare(em, missing);
  });
}

/** Those of `schemas` that were recorded with another digest: a build that brings them does not start. Nothing is recorded. */
export async function changedToolSchemas(store: Store, schemas: readonly ToolSchema[]): Promise<ToolSchema[]> {
  if (schemas.length === 0) return [];
  return inPatientTransaction(store, { tenantId: '' }, async (em) => {
    const recorded = await readRecorded(em, schemas);
    return schemas.filter((schema) => isChanged(schema, recorded));
  });
}

/** The names of those that are recorded. */
async function compare(em: EntityManager, schemas: readonly ToolSchema[]): Promise<Set<string>> {
  const recorded = await readRecorded(em, schemas);
  const other = schemas.find((schema) => isChanged(schema, recorded));
  if (other !== undefined) throw changed(other);
  return new Set(recorded.keys());
}

function isChanged(schema: ToolSchema, recorded: ReadonlyMap<string, string>): boolean {
  return (recorded.get(nameOf(schema)) ?? schema.digest) !== schema.digest;
}

/** Digests of those that are recorded, by name. */
async function readRecorded(em: EntityManager, schemas: readonly ToolSchema[]): Promise<Map<string, string>> {
  const found = (await em.execute(
    `select v.agent_name as agent, v.tool_name as tool, v.tool_version as version, v.schema_digest as digest
       from jsonb_to_recordset(?::jsonb) as given (agent text, tool text, version int)
       join turnlock.agent_tool_versions v
         on v.agent_name = given.agent and v.tool_name = given.tool and v.tool_version = given.version`,
    [JSON.stringify(schemas)],
  )) as ToolSchema[];
  return new Map(found.map((schema) => [nameOf(schema), schema.digest]));
}

function nameOf({ agent, tool, version }: ToolSchema): string {
  return JSON.stringify([agent, tool, version]);
}

function changed({ agent, tool, version }: ToolSchema): TurnlockError {
  return new TurnlockError('TOOL_SCHEMA_CHANGED', {
    message: `tool has another input schema than was recorded: version ${version} of ${tool} of agent ${JSON.stringify(agent)}`,
    details: { agent, tool, version },
  });
}
