import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Json, Normalised } from '../../machines/event-content.ts';
import { EFFECT_CLASSES, EXECUTION_STATUSES, UNKNOWN_REASONS } from '../../machines/execution-status.ts';
import { AgentSession } from './agent-session.entity.ts';
import { AgentTurn } from './agent-turn.entity.ts';
import { OWN_TENANT_POLICY } from './tenant-policy.ts';

const listed = (values: readonly string[]) => values.map((value) => `'${value}'`).join(', ');

/** Our durable handling of one tool call. The relations exist for the schema alone. */
export const AgentToolExecution = defineEntity({
  name: 'AgentToolExecution',
  tableName: 'agent_tool_executions',
  schema: 'turnlock',
  policies: [OWN_TENANT_POLICY],
  uniques: [
    { name: 'idx_tool_idempotency', properties: ['idempotencyKey'] },
    { name: 'uq_tool_session', properties: ['sessionId', 'executionId'] },
    { name: 'uq_tool_tenant', properties: ['tenantId', 'executionId'] },
  ],
  checks: [
    { name: 'check_tool_status', expression: `status IN (${listed(EXECUTION_STATUSES)})` },
    { name: 'check_tool_effect', expression: `effect IN (${listed(EFFECT_CLASSES)})` },
    { name: 'check_tool_counters', expression: 'ordinal >= 0 AND attempt >= 0' },
    { name: 'check_tool_cost', expression: 'cost_micro_money >= 0' },
    { name: 'check_tool_unknown', expression: '(unknown_at IS NULL) = (unknown_reason IS NULL)' },
    { name: 'check_tool_unknown_reason', expression: `unknown_reason IN (${listed(UNKNOWN_REASONS)})` },
  ],
  indexes: [
    { name: 'idx_tool_turn', properties: ['turnId'] },
    { name: 'idx_tool_open', properties: ['sessionId'], where: `status IN ('PENDING', 'RUNNING')` },
    { name: 'idx_tool_run', properties: ['runId', 'toolName', 'paramsDigest'] },
    { name: 'idx_tool_started', properties: ['tenantId', 'startedAt'], where: 'attempt > 0' },
    { name: 'idx_tool_unknown', properties: ['sessionId', 'toolName', 'paramsDigest'], where: `status = 'TIMED_OUT'` },
    { name: 'idx_tool_answered_by', properties: ['answeredBy'], where: 'answered_by IS NOT NULL' },
  ],
  properties: {
    executionId: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    tenantId: p.string().length(64),
    sessionId: p.uuid(),
    turnId: () =>
      p
        .manyToOne(AgentTurn)
        .mapToPk()
        .joinColumn('turn_id')
        .foreignKeyName('agent_tool_executions_turn_id_fkey')
        .deleteRule('cascade'),
    toolName: p.string().length(128),
    idempotencyKey: p.string().length(128),
    inputParameters: p.json<Json>(),
    outputPayload: p.json<Json>().nullable(),
    status: p.string().$type<(typeof EXECUTION_STATUSES)[number]>().length(32).default('PENDING'),
    errorMessage: p.text().nullable(),
    startedAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    completedAt: p.datetime().columnType('timestamptz').nullable(),
    runId: p.uuid(),
    ordinal: p.integer(),
    toolVersion: p.integer(),
    paramsDigest: p.string().length(64),
    providerCallId: p.text().nullable(),
    effect: p.string().$type<(typeof EFFECT_CLASSES)[number]>().length(16),
    attempt: p.integer().default(0),
    deadlineAt: p.datetime().columnType('timestamptz').nullable(),
    retryAt: p.datetime().columnType('timestamptz').nullable(),
    fencingToken: p.integer().nullable(),
    unknownAt: p.datetime().columnType('timestamptz').nullable(),
    unknownReason: p.string().$type<(typeof UNKNOWN_REASONS)[number]>().length(16).nullable(),
    answeredBy: p.uuid().nullable(),
    settledBy: p.string().length(255).nullable(),
    rawInput: p.text().nullable(),
    errorCode: p.string().length(64).nullable(),
    upgradedParameters: p.json<Json>().nullable(),
    upgradedDigest: p.string().length(64).nullable(),
    upgradedVersion: p.integer().nullable(),
    claimDigest: p.string().length(64).nullable(),
    claimGeneration: p.integer().nullable(),
    costMicroMoney: p.bigint('number').nullable(),
    normalised: p.json<Normalised>().nullable(),
    metadata: p.json<{ [name: string]: Json }>().defaultRaw(`'{}'::jsonb`),
    tenantSession: () =>
      p
        .manyToOne(AgentSession)
        .nullable()
        .joinColumns('tenant_id', 'session_id')
        .referencedColumnNames('tenant_id', 'session_id')
        .foreignKeyName('fk_tool_session')
        .deleteRule('cascade'),
    sessionTurn: () =>
      p
        .manyToOne(AgentTurn)
        .nullable()
        .joinColumns('session_id', 'turn_id')
        .referencedColumnNames('session_id', 'turn_id')
        .foreignKeyName('fk_tool_turn')
        .deleteRule('cascade'),
    answeringExecution: () =>
      p
        .manyToOne(AgentToolExecution)
        .nullable()
        .joinColumns('tenant_id', 'answered_by')
        .referencedColumnNames('tenant_id', 'execution_id')
        .foreignKeyName('fk_tool_answered_by')
        .deleteRule('set null (answered_by)')
        .deferMode('deferred'),
  },
});

/** A row of `agent_tool_executions`. */
export type AgentToolExecutionRow = InferEntity<typeof AgentToolExecution>;
