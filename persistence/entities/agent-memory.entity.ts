import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Json, Normalised } from '../../machines/event-content.ts';
import { AgentSession } from './agent-session.entity.ts';
import { AgentTurn } from './agent-turn.entity.ts';
import { OWN_TENANT_POLICY } from './tenant-policy.ts';

/** What a memory is, exactly the values of the database's CHECK constraint. */
export const MEMORY_KINDS = ['summary', 'preference', 'fact', 'episode'] as const;

/** What a user's agents remember. `search` is the database's. The vectors stand in a table of their own, where the extension is. */
export const AgentMemory = defineEntity({
  name: 'AgentMemory',
  tableName: 'agent_memories',
  schema: 'turnlock',
  policies: [OWN_TENANT_POLICY],
  checks: [
    { name: 'check_memory_kind', expression: `kind IN (${MEMORY_KINDS.map((kind) => `'${kind}'`).join(', ')})` },
    {
      name: 'check_memory_covers',
      expression: `covers_to_turn IS NULL OR (kind = 'summary' AND covers_to_turn >= 0)`,
    },
    {
      name: 'check_memory_superseded',
      expression: 'superseded_by IS NULL OR (superseded_at IS NOT NULL AND superseded_by <> memory_id)',
    },
  ],
  indexes: [
    { name: 'idx_memories_owner', properties: ['tenantId', 'userId', 'createdAt'] },
    { name: 'idx_memories_session', properties: ['sessionId', 'turnId'], where: 'session_id IS NOT NULL' },
    {
      name: 'idx_memories_summary',
      properties: ['sessionId', 'coversToTurn'],
      where: 'covers_to_turn IS NOT NULL AND superseded_at IS NULL',
    },
    {
      name: 'idx_memories_superseded',
      properties: ['tenantId', 'userId', 'supersededBy'],
      where: 'superseded_by IS NOT NULL',
    },
    { name: 'idx_memories_expired', properties: ['expiresAt'], where: 'expires_at IS NOT NULL' },
    { name: 'idx_memories_replaced', properties: ['supersededAt'], where: 'superseded_at IS NOT NULL' },
    {
      name: 'idx_memories_search',
      expression: 'create index idx_memories_search on turnlock.agent_memories using gin (search)',
    },
  ],
  properties: {
    tenantId: p.string().length(64).primary(),
    userId: p.string().length(64).primary(),
    memoryId: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    kind: p.string().$type<(typeof MEMORY_KINDS)[number]>().length(16),
    content: p.text(),
    language: p.string().length(63).default('simple'),
    search: p.string().columnType('tsvector').lazy().nullable(),
    sessionId: p.uuid().nullable(),
    turnId: p.uuid().nullable(),
    sequence: p.integer().nullable(),
    coversToTurn: p.integer().nullable(),
    supersededBy: p.uuid().nullable(),
    supersededAt: p.datetime().columnType('timestamptz').nullable(),
    expiresAt: p.datetime().columnType('timestamptz').nullable(),
    metadata: p.json<{ [name: string]: Json }>().defaultRaw(`'{}'::jsonb`),
    normalised: p.json<Normalised>().nullable(),
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
    turn: () =>
      p
        .manyToOne(AgentTurn)
        .nullable()
        .joinColumns('session_id', 'turn_id')
        .referencedColumnNames('session_id', 'turn_id')
        .foreignKeyName('fk_memory_turn')
        .deleteRule('set null (turn_id)'),
    successor: () =>
      p
        .manyToOne(AgentMemory)
        .nullable()
        .joinColumns('tenant_id', 'user_id', 'superseded_by')
        .referencedColumnNames('tenant_id', 'user_id', 'memory_id')
        .foreignKeyName('fk_memory_superseded')
        .deleteRule('set null (superseded_by)')
        .updateRule('no action'),
  },
});

/** A row of `agent_memories`. */
export type AgentMemoryRow = InferEntity<typeof AgentMemory>;
