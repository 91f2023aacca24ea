import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Json, Normalised } from '../../machines/event-content.ts';
import { SESSION_STATES } from '../../machines/session-state.ts';
import { AgentToolExecution } from './agent-tool-execution.entity.ts';
import { OWN_TENANT_POLICY } from './tenant-policy.ts';

/**
 * One durable conversation of one agent. `version` is a plain number: the commit writes version + 1 with the old one in its WHERE, and the
 * database refuses any other change. `genesisHash` and what the session began with are the insert trigger's: leave them out.
 *
 * The relations exist for the schema alone, so that composite foreign keys are compared; set and read the plain ids.
 */
export const AgentSession = defineEntity({
  name: 'AgentSession',
  tableName: 'agent_sessions',
  schema: 'turnlock',
  policies: [OWN_TENANT_POLICY],
  uniques: [
    { name: 'uq_session_tenant', properties: ['tenantId', 'sessionId'] },
    { name: 'uq_session_external_id', properties: ['tenantId', 'externalId'] },
  ],
  checks: [
    { name: 'check_session_lease', expression: '(lease_holder IS NULL) = (lease_expires_at IS NULL)' },
    {
      name: 'check_session_counters',
      expression: 'version >= 0 AND lease_token >= 0 AND recoveries >= 0 AND depth >= 0',
    },
    {
      name: 'check_session_state',
      expression: `current_state IN (${SESSION_STATES.map((state) => `'${state}'`).join(', ')})`,
    },
  ],
  indexes: [
    {
      name: 'idx_sessions_tenant',
      expression: 'create index idx_sessions_tenant on turnlock.agent_sessions (tenant_id, updated_at desc)',
    },
    { name: 'idx_sessions_user', properties: ['tenantId', 'userId'] },
    {
      name: 'idx_sessions_unwell',
      expression: `create index idx_sessions_unwell on turnlock.agent_sessions (tenant_id, current_state, updated_at desc)
        where current_state in ('AWAITING_INPUT', 'FAILED')`,
    },
    {
      name: 'idx_sessions_owed',
      expression: `create index idx_sessions_owed on turnlock.agent_sessions ((coalesce(lease_expires_at, wake_at, updated_at)))
        where current_state in ('PLANNING', 'EXECUTING_TOOL')`,
    },
    { name: 'idx_sessions_wake', properties: ['wakeAt'], where: 'wake_at IS NOT NULL' },
    { name: 'idx_sessions_parent', properties: ['parentSessionId'], where: 'parent_session_id IS NOT NULL' },
    {
      name: 'idx_sessions_parent_execution',
      properties: ['parentExecutionId'],
      where: 'parent_execution_id IS NOT NULL',
    },
    {
      name: 'idx_sessions_fork_origin',
      properties: ['forkOriginSessionId'],
      where: 'fork_origin_session_id IS NOT NULL',
    },
    {
      name: 'idx_sessions_metadata',
      expression: 'create index idx_sessions_metadata on turnlock.agent_sessions using gin (metadata jsonb_path_ops)',
    },
  ],
  properties: {
    sessionId: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    tenantId: p.string().length(64),
    userId: p.string().length(64),
    currentState: p.string().$type<(typeof SESSION_STATES)[number]>().length(32).default('IDLE'),
    activeModelId: p.string().length(64),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    updatedAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    agentName: p.string().length(64),
    agentVersion: p.integer(),
    externalId: p.string().length(255).nullable(),
    machineId: p.string().length(64),
    machineVersion: p.integer(),
    snapshot: p.json<Json>(),
    version: p.integer().default(0).concurrencyCheck(),
    leaseHolder: p.string().length(64).nullable(),
    leaseToken: p.integer().default(0),
    leaseExpiresAt: p.datetime().columnType('timestamptz').nullable(),
    recoveries: p.integer().default(0),
    wakeAt: p.datetime().columnType('timestamptz').nullable(),
    parentSessionId: p.uuid().nullable(),
    parentExecutionId: p.uuid().nullable(),
    depth: p.integer().default(0),
    forkOriginSessionId: p.uuid().nullable(),
    forkOriginTurnIndex: p.integer().nullable(),
    metadata: p.json<{ [name: string]: Json }>().defaultRaw(`'{}'::jsonb`),
    normalised: p.json<Normalised>().nullable(),
    firstAgentVersion: p.integer().default(0),
    firstMachineVersion: p.integer().default(0),
    genesisHash: p.string().length(64).defaultRaw(`''`),
    erasedAt: p.datetime().columnType('timestamptz').nullable(),
    parentLink: () =>
      p
        .manyToOne(AgentSession)
        .nullable()
        .joinColumns('tenant_id', 'parent_session_id')
        .referencedColumnNames('tenant_id', 'session_id')
        .foreignKeyName('fk_session_parent')
        .deleteRule('set null (parent_session_id)'),
    parentExecutionLink: () =>
      p
        .manyToOne(AgentToolExecution)
        .nullable()
        .joinColumns('tenant_id', 'parent_execution_id')
        .referencedColumnNames('tenant_id', 'execution_id')
        .foreignKeyName('fk_session_parent_execution')
        .deleteRule('set null (parent_execution_id)')
        .deferMode('deferred'),
    forkOriginLink: () =>
      p
        .manyToOne(AgentSession)
        .nullable()
        .joinColumns('tenant_id', 'fork_origin_session_id')
        .referencedColumnNames('tenant_id', 'session_id')
        .foreignKeyName('fk_session_fork_origin')
        .deleteRule('set null (fork_origin_session_id)'),
  },
});

/** A row of `agent_sessions`. */
export type AgentSessionRow = InferEntity<typeof AgentSession>;
