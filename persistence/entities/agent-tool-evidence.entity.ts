import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Json, Normalised } from '../../machines/event-content.ts';
import { AgentSession } from './agent-session.entity.ts';
import { AgentToolExecution } from './agent-tool-execution.entity.ts';
import { OWN_TENANT_POLICY } from './tenant-policy.ts';

/** How an attempt ended, as its worker says, exactly the values of the database's CHECK constraint. */
const OUTCOMES = ['succeeded', 'failed', 'timedOut'] as const;

/** A fact about an attempt that came too late. Insert only, takes stale tokens; its insert trigger wakes the session. */
export const AgentToolEvidence = defineEntity({
  name: 'AgentToolEvidence',
  tableName: 'agent_tool_evidence',
  schema: 'turnlock',
  policies: [OWN_TENANT_POLICY],
  checks: [
    {
      name: 'check_evidence_outcome',
      expression: `outcome IN (${OUTCOMES.map((outcome) => `'${outcome}'`).join(', ')})`,
    },
  ],
  indexes: [{ name: 'idx_evidence_execution', properties: ['sessionId', 'executionId'] }],
  properties: {
    evidenceId: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    tenantId: p.string().length(64),
    sessionId: p.uuid(),
    executionId: p.uuid(),
    attempt: p.integer(),
    token: p.integer(),
    outcome: p.string().$type<(typeof OUTCOMES)[number]>().length(16),
    output: p.json<Json>().nullable(),
    errorCode: p.string().length(64).nullable(),
    errorMessage: p.text().nullable(),
    normalised: p.json<Normalised>().nullable(),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('turnlock.turnlock_now()'),
    tenantSession: () =>
      p
        .manyToOne(AgentSession)
        .nullable()
        .joinColumns('tenant_id', 'session_id')
        .referencedColumnNames('tenant_id', 'session_id')
        .foreignKeyName('fk_evidence_session')
        .deleteRule('cascade'),
    execution: () =>
      p
        .manyToOne(AgentToolExecution)
        .nullable()
        .joinColumns('session_id', 'execution_id')
        .referencedColumnNames('session_id', 'execution_id')
        .foreignKeyName('fk_evidence_execution')
        .deleteRule('cascade'),
  },
});

/** A row of `agent_tool_evidence`. */
export type AgentToolEvidenceRow = InferEntity<typeof AgentToolEvidence>;
