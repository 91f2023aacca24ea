import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Json } from '../../machines/event-content.ts';
import { AgentSession } from './agent-session.entity.ts';
import { AgentTransition } from './agent-transition.entity.ts';
import { OWN_TENANT_POLICY } from './tenant-policy.ts';

/**
 * What a transition was about, beside the chain, so that it can be erased without breaking it. The one legal change nulls salt and payload
 * and sets `erasedAt`. The relations exist for the schema alone.
 */
export const AgentTransitionPayload = defineEntity({
  name: 'AgentTransitionPayload',
  tableName: 'agent_transition_payloads',
  schema: 'turnlock',
  policies: [OWN_TENANT_POLICY],
  checks: [{ name: 'check_payload_erased', expression: 'erased_at IS NULL OR (salt IS NULL AND payload IS NULL)' }],
  properties: {
    sessionId: p.uuid().primary(),
    sequence: p.integer().primary(),
    tenantId: p.string().length(64),
    salt: p.string().length(64).nullable(),
    payload: p.json<Json>().nullable(),
    erasedAt: p.datetime().columnType('timestamptz').nullable(),
    tenantSession: () =>
      p
        .manyToOne(AgentSession)
        .nullable()
        .joinColumns('tenant_id', 'session_id')
        .referencedColumnNames('tenant_id', 'session_id')
        .foreignKeyName('fk_payload_session')
        .deleteRule('cascade'),
    transition: () =>
      p
        .manyToOne(AgentTransition)
        .nullable()
        .joinColumns('session_id', 'sequence')
        .referencedColumnNames('session_id', 'sequence')
        .foreignKeyName('fk_payload_transition')
        .updateRule('no action')
        .deleteRule('cascade')
        .deferMode('deferred'),
  },
});

/** A row of `agent_transition_payloads`. */
export type AgentTransitionPayloadRow = InferEntity<typeof AgentTransitionPayload>;
