import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Json, TokenUsage } from '../../machines/event-content.ts';
import { AgentSession } from './agent-session.entity.ts';
import { OWN_TENANT_POLICY } from './tenant-policy.ts';

/** One attempt of a model call: what was shown and what it cost. */
export const AgentModelCall = defineEntity({
  name: 'AgentModelCall',
  tableName: 'agent_model_calls',
  schema: 'turnlock',
  policies: [OWN_TENANT_POLICY],
  indexes: [
    { name: 'idx_model_calls_session', properties: ['sessionId', 'startedAt'] },
    { name: 'idx_model_calls_tenant', properties: ['tenantId', 'startedAt'] },
  ],
  properties: {
    modelCallId: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    tenantId: p.string().length(64),
    sessionId: p.uuid(),
    runId: p.uuid(),
    attempt: p.integer(),
    modelId: p.string().length(64),
    agentVersion: p.integer(),
    tools: p.json<Json>().defaultRaw(`'[]'::jsonb`),
    windowFrom: p.integer(),
    windowTo: p.integer(),
    memories: p.json<Json>().defaultRaw(`'[]'::jsonb`),
    startedAt: p.datetime().columnType('timestamptz'),
    latencyMs: p.integer().nullable(),
    tokenUsageJson: p.json<TokenUsage>().defaultRaw(`'{}'::jsonb`),
    finishReason: p.string().length(64).nullable(),
    providerRequestId: p.text().nullable(),
    errorCode: p.string().length(64).nullable(),
    errorMessage: p.text().nullable(),
    tenantSession: () =>
      p
        .manyToOne(AgentSession)
        .nullable()
        .joinColumns('tenant_id', 'session_id')
        .referencedColumnNames('tenant_id', 'session_id')
        .foreignKeyName('fk_model_call_session')
        .deleteRule('cascade'),
  },
});

/** A row of `agent_model_calls`. */
export type AgentModelCallRow = InferEntity<typeof AgentModelCall>;
