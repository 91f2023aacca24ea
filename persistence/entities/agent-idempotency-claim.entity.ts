import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Json } from '../../machines/event-content.ts';
import { AgentToolExecution } from './agent-tool-execution.entity.ts';
import { OWN_TENANT_POLICY } from './tenant-policy.ts';

/** Where a business key stands, exactly the values of the database's CHECK constraint. */
const STATES = ['held', 'succeeded', 'free'] as const;

/** A business key of a tenant, such as one refund per order. Outlives the session that took it. */
export const AgentIdempotencyClaim = defineEntity({
  name: 'AgentIdempotencyClaim',
  tableName: 'agent_idempotency_claims',
  schema: 'turnlock',
  policies: [OWN_TENANT_POLICY],
  checks: [
    { name: 'check_claim_state', expression: `state IN (${STATES.map((state) => `'${state}'`).join(', ')})` },
    { name: 'check_claim_generation', expression: 'generation >= 1' },
  ],
  indexes: [
    { name: 'idx_claims_execution', properties: ['executionId'], where: 'execution_id IS NOT NULL' },
    { name: 'idx_claims_left', properties: ['updatedAt'], where: 'execution_id IS NULL' },
  ],
  properties: {
    tenantId: p.string().length(64).primary(),
    toolName: p.string().length(128).primary(),
    keyDigest: p.string().length(64).primary(),
    state: p.string().$type<(typeof STATES)[number]>().length(16),
    generation: p.integer().default(1),
    executionId: p.uuid().nullable(),
    paramsDigest: p.string().length(64),
    userId: p.string().length(64),
    outputPayload: p.json<Json>().nullable(),
    createdAt: p.datetime().columnType('timestamptz'),
    updatedAt: p.datetime().columnType('timestamptz'),
    execution: () =>
      p
        .manyToOne(AgentToolExecution)
        .nullable()
        .joinColumns('tenant_id', 'execution_id')
        .referencedColumnNames('tenant_id', 'execution_id')
        .foreignKeyName('fk_claim_execution')
        .deleteRule('set null (execution_id)')
        .deferMode('deferred'),
  },
});

/** A row of `agent_idempotency_claims`. */
export type AgentIdempotencyClaimRow = InferEntity<typeof AgentIdempotencyClaim>;
