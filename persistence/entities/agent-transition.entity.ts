import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { SessionState } from '../../machines/session-state.ts';
import { AgentSession } from './agent-session.entity.ts';
import { OWN_TENANT_POLICY } from './tenant-policy.ts';

/** Who caused a transition, exactly the values of the database's CHECK constraint. */
const CAUSES = ['user', 'worker', 'operator'] as const;

/**
 * One committed transition: the audit. Append-only. Leave out `createdAt`, `previousHash` and `hash`: the insert trigger sets them whatever
 * is given, and after a flush the entity holds its values. The relation exists for the schema alone.
 */
export const AgentTransition = defineEntity({
  name: 'AgentTransition',
  tableName: 'agent_transitions',
  schema: 'turnlock',
  policies: [OWN_TENANT_POLICY],
  uniques: [{ name: 'uq_transition_event', properties: ['sessionId', 'eventId'] }],
  checks: [
    { name: 'check_transition_cause', expression: `cause IN (${CAUSES.map((cause) => `'${cause}'`).join(', ')})` },
    { name: 'check_transition_sequence', expression: 'sequence >= 1' },
  ],
  indexes: [
    { name: 'idx_transitions_run', properties: ['runId'], where: `event IN ('user.messaged', 'session.retried')` },
    {
      name: 'idx_transitions_message',
      properties: ['eventId'],
      where: `event IN ('user.messaged', 'message.enqueued')`,
    },
  ],
  properties: {
    sessionId: p.uuid().primary(),
    sequence: p.integer().primary(),
    tenantId: p.string().length(64),
    runId: p.uuid().nullable(),
    fromState: p.string().$type<SessionState>().length(32),
    toState: p.string().$type<SessionState>().length(32),
    event: p.string().length(64),
    eventId: p.string().length(80),
    cause: p.string().$type<(typeof CAUSES)[number]>().length(16),
    token: p.integer(),
    formatVersion: p.smallint().default(1),
    payloadDigest: p.string().length(64),
    turnsDigest: p.string().length(64),
    outcomesDigest: p.string().length(64),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw(`'1970-01-01 00:00:00+00'::timestamptz`),
    previousHash: p.string().length(64).defaultRaw(`''`),
    hash: p.string().length(64).defaultRaw(`''`),
    tenantSession: () =>
      p
        .manyToOne(AgentSession)
        .nullable()
        .joinColumns('tenant_id', 'session_id')
        .referencedColumnNames('tenant_id', 'session_id')
        .foreignKeyName('fk_transition_session')
        .deleteRule('cascade'),
  },
});

/** A row of `agent_transitions`. */
export type AgentTransitionRow = InferEntity<typeof AgentTransition>;
