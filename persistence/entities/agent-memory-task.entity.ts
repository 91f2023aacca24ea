import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { AgentMemory } from './agent-memory.entity.ts';
import { AgentSession } from './agent-session.entity.ts';
import { OWN_TENANT_POLICY } from './tenant-policy.ts';

/** What is owed, exactly the values of the database's CHECK constraint. */
export const MEMORY_TASK_KINDS = ['embed', 'summarise'] as const;

/** Work that is owed for what is remembered: the vector of a memory, or the summary of a session up to one of its turns. */
export const AgentMemoryTask = defineEntity({
  name: 'AgentMemoryTask',
  tableName: 'agent_memory_tasks',
  schema: 'turnlock',
  policies: [OWN_TENANT_POLICY],
  uniques: [
    { name: 'uq_memory_task_memory', properties: ['tenantId', 'userId', 'memoryId'] },
    { name: 'uq_memory_task_session', properties: ['tenantId', 'sessionId'] },
  ],
  checks: [
    {
      name: 'check_memory_task_kind',
      expression: `kind IN (${MEMORY_TASK_KINDS.map((kind) => `'${kind}'`).join(', ')})`,
    },
    {
      name: 'check_memory_task_embed',
      expression: `(kind = 'embed') = (user_id IS NOT NULL AND memory_id IS NOT NULL)`,
    },
    {
      name: 'check_memory_task_summarise',
      expression: `(kind = 'summarise') = (session_id IS NOT NULL AND up_to_turn IS NOT NULL)`,
    },
    { name: 'check_memory_task_attempts', expression: 'attempts >= 0' },
  ],
  indexes: [{ name: 'idx_memory_tasks_due', properties: ['dueAt'], where: 'attempts < 10' }],
  properties: {
    taskId: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    tenantId: p.string().length(64),
    kind: p.string().$type<(typeof MEMORY_TASK_KINDS)[number]>().length(16),
    userId: p.string().length(64).nullable(),
    memoryId: p.uuid().nullable(),
    sessionId: p.uuid().nullable(),
    upToTurn: p.integer().nullable(),
    attempts: p.integer().default(0),
    dueAt: p.datetime().columnType('timestamptz'),
    lastErrorCode: p.string().length(64).nullable(),
    createdAt: p.datetime().columnType('timestamptz'),
    memory: () =>
      p
        .manyToOne(AgentMemory)
        .nullable()
        .joinColumns('tenant_id', 'user_id', 'memory_id')
        .referencedColumnNames('tenant_id', 'user_id', 'memory_id')
        .foreignKeyName('fk_memory_task_memory')
        .deleteRule('cascade')
        .updateRule('no action'),
    session: () =>
      p
        .manyToOne(AgentSession)
        .nullable()
        .joinColumns('tenant_id', 'session_id')
        .referencedColumnNames('tenant_id', 'session_id')
        .foreignKeyName('fk_memory_task_session')
        .deleteRule('cascade'),
  },
});

/** A row of `agent_memory_tasks`. */
export type AgentMemoryTaskRow = InferEntity<typeof AgentMemoryTask>;
