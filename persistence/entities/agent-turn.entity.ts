import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Json, Normalised, TokenUsage } from '../../machines/event-content.ts';
import { AgentSession } from './agent-session.entity.ts';
import { AgentToolExecution } from './agent-tool-execution.entity.ts';
import { OWN_TENANT_POLICY } from './tenant-policy.ts';

/** The roles of turns, exactly the values of the database's CHECK constraint. */
const TURN_ROLES = ['user', 'assistant', 'system', 'tool'] as const;

/** One entry of the conversation. Never changes once it was written. The relations exist for the schema alone. */
export const AgentTurn = defineEntity({
  name: 'AgentTurn',
  tableName: 'agent_turns',
  schema: 'turnlock',
  policies: [OWN_TENANT_POLICY],
  uniques: [
    { name: 'uq_session_turn_index', properties: ['sessionId', 'turnIndex'] },
    { name: 'uq_turn_session', properties: ['sessionId', 'turnId'] },
    { name: 'uq_turn_call', properties: ['callTurnId', 'callOrdinal'] },
  ],
  checks: [
    { name: 'agent_turns_role_check', expression: `role IN (${TURN_ROLES.map((role) => `'${role}'`).join(', ')})` },
    { name: 'check_turn_index', expression: 'turn_index >= 0' },
    { name: 'check_turn_call', expression: '(call_turn_id IS NULL) = (call_ordinal IS NULL)' },
  ],
  properties: {
    turnId: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    tenantId: p.string().length(64),
    sessionId: () =>
      p
        .manyToOne(AgentSession)
        .mapToPk()
        .joinColumn('session_id')
        .foreignKeyName('agent_turns_session_id_fkey')
        .deleteRule('cascade'),
    turnIndex: p.integer(),
    role: p.string().$type<(typeof TURN_ROLES)[number]>().length(16),
    content: p.text().nullable(),
    tokenUsageJson: p.json<TokenUsage>().defaultRaw(`'{}'::jsonb`),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    runId: p.uuid().nullable(),
    parts: p.json<Json[]>().defaultRaw(`'[]'::jsonb`),
    executionId: p.uuid().nullable(),
    callTurnId: p.uuid().nullable(),
    callOrdinal: p.integer().nullable(),
    normalised: p.json<Normalised>().nullable(),
    metadata: p.json<{ [name: string]: Json }>().defaultRaw(`'{}'::jsonb`),
    tenantSession: () =>
      p
        .manyToOne(AgentSession)
        .nullable()
        .joinColumns('tenant_id', 'session_id')
        .referencedColumnNames('tenant_id', 'session_id')
        .foreignKeyName('fk_turn_session')
        .deleteRule('cascade'),
    callTurn: () =>
      p
        .manyToOne(AgentTurn)
        .nullable()
        .joinColumns('session_id', 'call_turn_id')
        .referencedColumnNames('session_id', 'turn_id')
        .foreignKeyName('fk_turn_call')
        .deleteRule('cascade')
        .deferMode('deferred'),
    execution: () =>
      p
        .manyToOne(AgentToolExecution)
        .nullable()
        .joinColumns('session_id', 'execution_id')
        .referencedColumnNames('session_id', 'execution_id')
        .foreignKeyName('fk_turn_execution')
        .deleteRule('set null (execution_id)')
        .deferMode('deferred'),
  },
});

/** A row of `agent_turns`. */
export type AgentTurnRow = InferEntity<typeof AgentTurn>;
