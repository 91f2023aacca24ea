import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** What a control does, exactly the values of the database's CHECK constraint. */
const KINDS = ['freeze', 'budget'] as const;

/** What a budget counts per day, exactly the values of the database's CHECK constraint. */
const UNITS = ['tokens', 'microMoney', 'calls'] as const;

/** A frozen tool or a daily budget. Without a tenant it counts for all, without a tool for every tool. Operators write it, by function. */
export const AgentControl = defineEntity({
  name: 'AgentControl',
  tableName: 'agent_controls',
  schema: 'turnlock',
  policies: [
    {
      name: 'own_tenant_or_all',
      command: 'select',
      using: "tenant_id IS NULL OR tenant_id = nullif(current_setting('turnlock.tenant', true), '')",
    },
  ],
  checks: [
    { name: 'check_control_kind', expression: `kind IN (${KINDS.map((kind) => `'${kind}'`).join(', ')})` },
    { name: 'check_control_unit', expression: `unit IN (${UNITS.map((unit) => `'${unit}'`).join(', ')})` },
    {
      name: 'check_control_budget',
      expression: `(kind = 'budget') = (unit IS NOT NULL AND daily_limit IS NOT NULL AND daily_limit >= 0)`,
    },
  ],
  indexes: [{ name: 'idx_controls_tenant', properties: ['tenantId', 'kind'] }],
  properties: {
    controlId: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    tenantId: p.string().length(64).nullable(),
    kind: p.string().$type<(typeof KINDS)[number]>().length(16),
    toolName: p.string().length(128).nullable(),
    unit: p.string().$type<(typeof UNITS)[number]>().length(16).nullable(),
    dailyLimit: p.bigint('number').nullable(),
    reason: p.text().nullable(),
    createdBy: p.string().length(255),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('turnlock.turnlock_now()'),
  },
});

/** A row of `agent_controls`. */
export type AgentControlRow = InferEntity<typeof AgentControl>;
