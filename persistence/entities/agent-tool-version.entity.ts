import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** The digest of the JSON Schema that a tool's version had when it was first seen. No tenant. */
export const AgentToolVersion = defineEntity({
  name: 'AgentToolVersion',
  tableName: 'agent_tool_versions',
  schema: 'turnlock',
  properties: {
    toolName: p.string().length(128).primary(),
    toolVersion: p.integer().primary(),
    schemaDigest: p.string().length(64),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('turnlock.turnlock_now()'),
  },
});

/** A row of `agent_tool_versions`. */
export type AgentToolVersionRow = InferEntity<typeof AgentToolVersion>;
