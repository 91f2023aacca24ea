import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Json } from '../../machines/event-content.ts';
import { AgentSession } from './agent-session.entity.ts';
import { AgentToolExecution } from './agent-tool-execution.entity.ts';
import { OWN_TENANT_POLICY } from './tenant-policy.ts';

/** How a round ended, exactly the values of the database's CHECK constraint. */
export const DECISIONS = ['granted', 'denied', 'answered', 'settled', 'expired', 'superseded', 'cancelled'] as const;

/** What a round is about: may the call run, what does the user answer, how did the call end. */
export const ROUND_KINDS = ['approval', 'answer', 'unknown'] as const;

const ON_EXPIRY = ['failCall', 'failSession'] as const;

const listed = (values: readonly string[]) => values.map((value) => `'${value}'`).join(', ');

/** One round of asking people about one execution: decided once, used once, bound to the arguments by their digest. */
export const AgentApproval = defineEntity({
  name: 'AgentApproval',
  tableName: 'agent_approvals',
  schema: 'turnlock',
  policies: [OWN_TENANT_POLICY],
  uniques: [{ name: 'uq_approval_round', properties: ['executionId', 'round'] }],
  checks: [
    { name: 'check_approval_round', expression: 'round >= 1' },
    { name: 'check_approval_kind', expression: `kind IN (${listed(ROUND_KINDS)})` },
    { name: 'check_approval_on_expiry', expression: `on_expiry IN (${listed(ON_EXPIRY)})` },
    { name: 'check_approval_decision', expression: `decision IN (${listed(DECISIONS)})` },
    { name: 'check_approval_decided', expression: '(decision IS NULL) = (decided_at IS NULL)' },
    {
      name: 'check_approval_consumed',
      expression: `consumed_at IS NULL OR (decision IS NOT NULL AND decision = 'granted')`,
    },
  ],
  indexes: [
    { name: 'idx_approvals_session', properties: ['sessionId', 'executionId'] },
    { name: 'idx_approvals_session_open', properties: ['sessionId', 'approvalId'], where: 'decision IS NULL' },
    { name: 'idx_approvals_open', properties: ['tenantId', 'requestedAt'], where: 'decision IS NULL' },
    {
      name: 'idx_approvals_unannounced',
      properties: ['requestedAt'],
      where: 'decision IS NULL AND announced_at IS NULL',
    },
  ],
  properties: {
    approvalId: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    tenantId: p.string().length(64),
    sessionId: p.uuid(),
    executionId: p.uuid(),
    round: p.integer().default(1),
    kind: p.string().$type<(typeof ROUND_KINDS)[number]>().length(16).default('approval'),
    argsDigest: p.string().length(64),
    question: p.text().nullable(),
    approvers: p.json<Json>().nullable(),
    requestedAt: p.datetime().columnType('timestamptz'),
    expiresAt: p.datetime().columnType('timestamptz').nullable(),
    onExpiry: p.string().$type<(typeof ON_EXPIRY)[number]>().length(16).default('failCall'),
    announcedAt: p.datetime().columnType('timestamptz').nullable(),
    decision: p.string().$type<(typeof DECISIONS)[number]>().length(16).nullable(),
    decidedBy: p.string().length(255).nullable(),
    decidedRoles: p.json<string[]>().nullable(),
    decidedAt: p.datetime().columnType('timestamptz').nullable(),
    reason: p.text().nullable(),
    consumedAt: p.datetime().columnType('timestamptz').nullable(),
    controls: p.json<string[]>().nullable(),
    tenantSession: () =>
      p
        .manyToOne(AgentSession)
        .nullable()
        .joinColumns('tenant_id', 'session_id')
        .referencedColumnNames('tenant_id', 'session_id')
        .foreignKeyName('fk_approval_session')
        .deleteRule('cascade'),
    execution: () =>
      p
        .manyToOne(AgentToolExecution)
        .nullable()
        .joinColumns('session_id', 'execution_id')
        .referencedColumnNames('session_id', 'execution_id')
        .foreignKeyName('fk_approval_execution')
        .deleteRule('cascade')
        .deferMode('deferred'),
  },
});

/** A row of `agent_approvals`. */
export type AgentApprovalRow = InferEntity<typeof AgentApproval>;
