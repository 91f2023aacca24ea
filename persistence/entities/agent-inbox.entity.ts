import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Json, Normalised } from '../../machines/event-content.ts';
import { AgentSession } from './agent-session.entity.ts';
import { OWN_TENANT_POLICY } from './tenant-policy.ts';

/** What a message does to a busy session, exactly the values of the database's CHECK constraint. */
const WHEN_BUSY = ['enqueue', 'reject', 'interrupt', 'supersede'] as const;

/** What a row is: a message, or the word of the parent that it gave the run up. */
const KINDS = ['message', 'cancel'] as const;

/** A message that waits. `notedAt` is null until a commit of the session took note of a row that came from outside its lock. */
export const AgentInbox = defineEntity({
  name: 'AgentInbox',
  tableName: 'agent_inbox',
  schema: 'turnlock',
  policies: [OWN_TENANT_POLICY],
  uniques: [{ name: 'uq_inbox_message', properties: ['sessionId', 'messageId'] }],
  checks: [
    { name: 'check_inbox_kind', expression: `kind IN (${KINDS.map((kind) => `'${kind}'`).join(', ')})` },
    { name: 'check_inbox_when_busy', expression: `when_busy IN (${WHEN_BUSY.map((way) => `'${way}'`).join(', ')})` },
    { name: 'check_inbox_rejected', expression: '(rejected_at IS NULL) = (rejected_code IS NULL)' },
  ],
  indexes: [
    { name: 'idx_inbox_waiting', properties: ['sessionId', 'position'], where: 'rejected_at IS NULL' },
    { name: 'idx_inbox_cancel', properties: ['createdAt'], where: `kind = 'cancel'` },
  ],
  properties: {
    inboxId: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    tenantId: p.string().length(64),
    sessionId: p.uuid(),
    // `autoincrement` too: MikroORM reads an identity column back as both, and would else drop a default that is not there.
    position: p.bigint('number').autoincrement().generated('by default as identity'),
    kind: p.string().$type<(typeof KINDS)[number]>().length(16).default('message'),
    messageId: p.string().length(255).nullable(),
    runId: p.uuid().defaultRaw('gen_random_uuid()'),
    content: p.text(),
    parts: p.json<Json[]>().defaultRaw(`'[]'::jsonb`),
    metadata: p.json<{ [name: string]: Json }>().defaultRaw(`'{}'::jsonb`),
    whenBusy: p.string().$type<(typeof WHEN_BUSY)[number]>().length(16).default('enqueue'),
    normalised: p.json<Normalised>().nullable(),
    notedAt: p.datetime().columnType('timestamptz').nullable(),
    rejectedAt: p.datetime().columnType('timestamptz').nullable(),
    rejectedCode: p.string().length(64).nullable(),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('turnlock.turnlock_now()'),
    tenantSession: () =>
      p
        .manyToOne(AgentSession)
        .nullable()
        .joinColumns('tenant_id', 'session_id')
        .referencedColumnNames('tenant_id', 'session_id')
        .foreignKeyName('fk_inbox_session')
        .deleteRule('cascade'),
  },
});

/** A row of `agent_inbox`. */
export type AgentInboxRow = InferEntity<typeof AgentInbox>;
