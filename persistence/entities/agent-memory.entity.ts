import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Json } from '../../machines/event-content.ts';
import { AgentSession } from './agent-session.entity.ts';
import { OWN_TENANT_POLICY } from './tenant-policy.ts';

/** What a user's agents remember. `search` is the database's. The vectors stand in a table of their own, where the extension is. */
export const AgentMemory = defineEntity({
  name: 'AgentMemory',
  tableName: 'agent_memories',
  schema: 'turnlock',
  policies: [OWN_TENANT_POLICY],
  uniques: [{ name: 'uq_memory_tenant', properties: ['tenantId', 'memoryId'] }],
  indexes: [
    { name: 'idx_memories_owner', properties: ['tenantId', 'userId', 'updatedAt'] },
    { name: 'idx_memories_session', properties: ['sessionId'], where: 'session_id IS NOT NULL' },
    {
      name: 'idx_memories_search',
      expression: 'create index idx_memories_search on turnlock.agent_memories using gin (search)',
    },
  ],
  properties: {
    memoryId: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    tenantId: p.string().length(64),
    userId: p.string().length(64),
    kind: p.string().length(32),
    content: p.text(),
    search: p
      .string()
      .columnType('tsvector')
      .generated(`(to_tsvector('simple'::regconfig, content)) stored`)
      .lazy()
      .nullable(),
    sessionId: p.uuid().nullable(),
    sequence: p.integer().nullable(),
    metadata: p.json<{ [name: string]: Json }>().defaultRaw(`'{}'::jsonb`),
    createdAt: p.datetime().columnType('timestamptz'),
    updatedAt: p.datetime().columnType('timestamptz'),
    session: () =>
      p
        .manyToOne(AgentSession)
        .nullable()
        .joinColumns('tenant_id', 'session_id')
        .referencedColumnNames('tenant_id', 'session_id')
        .foreignKeyName('fk_memory_session')
        .deleteRule('set null (session_id)'),
  },
});

/** A row of `agent_memories`. */
export type AgentMemoryRow = InferEntity<typeof AgentMemory>;
