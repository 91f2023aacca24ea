import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Json } from '../../machines/event-content.ts';

/** Who looked across tenants, for what. Written by the operator functions alone; no role but the owner sees it. */
export const AgentOperatorRead = defineEntity({
  name: 'AgentOperatorRead',
  tableName: 'agent_operator_reads',
  indexes: [
    { name: 'idx_operator_reads_age', properties: ['createdAt'] },
    {
      name: 'idx_operator_reads_removed',
      expression: `create index idx_operator_reads_removed on turnlock.agent_operator_reads using gin ((criteria -> 'sessionIds'))
  where function_name = 'remove_sessions'`,
    },
  ],
  schema: 'turnlock',
  rowLevelSecurity: true,
  properties: {
    readId: p.bigint('number').primary().generated('by default as identity'),
    functionName: p.string().length(64),
    criteria: p.json<Json>(),
    operator: p.string().length(64),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('turnlock.turnlock_now()'),
  },
});

/** A row of `agent_operator_reads`. */
export type AgentOperatorReadRow = InferEntity<typeof AgentOperatorRead>;
