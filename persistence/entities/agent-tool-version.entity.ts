import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** The digest of the JSON Schema that a version of an agent's tool had when it was first seen. No tenant. */
export const AgentToolVersion = defineEntity({
  name: 'AgentToolVersion',
  tableName: 'agent_tool_versions',
  schema: 'turnlock',
  properties: {
    agentName: p.string().length(64).primary(),
    toolName: p.string().length(128).primary(),
    toolVersion: p.integer().primary(),
    schemaDigest: p.string().length(64),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('turnlock.turnlock_now()'),
  },
});

/** A row of `agent_tool_versions`. */
export type AgentToolVersionRow = InferEntity<typeof AgentToolVersion>;
