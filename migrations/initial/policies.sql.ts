/** Every table that holds rows of tenants under one policy: only those of the tenant that the transaction named. */
export const TENANT_TABLES = [
  'agent_sessions',
  'agent_turns',
  'agent_tool_executions',
  'agent_transitions',
  'agent_transition_payloads',
  'agent_tool_evidence',
  'agent_inbox',
  'agent_approvals',
  'agent_model_calls',
  'agent_idempotency_claims',
  'agent_memories',
  'agent_memory_tasks',
];

const OWN_TENANT = `tenant_id = nullif(current_setting('turnlock.tenant', true), '')`;

/**
 * Row-level security: ENABLE and not FORCE, so that foreign keys, trigger functions and the functions that cross tenants, which run as the
 * owner, see every row. An unset tenant sees none.
 */
export function policiesSql(schema: string): string[] {
  return [
    ...TENANT_TABLES.flatMap((table) => [
      `ALTER TABLE ${schema}.${table} ENABLE ROW LEVEL SECURITY`,
      `CREATE POLICY own_tenant ON ${schema}.${table} USING (${OWN_TENANT}) WITH CHECK (${OWN_TENANT})`,
    ]),
    `ALTER TABLE ${schema}.agent_controls ENABLE ROW LEVEL SECURITY`,
    // Rows without a tenant count for all. Nobody but the owner writes: operators do it through put_control and drop_control.
    `CREATE POLICY own_tenant_or_all ON ${schema}.agent_controls FOR SELECT USING (tenant_id IS NULL OR ${OWN_TENANT})`,
    `ALTER TABLE ${schema}.agent_operator_reads ENABLE ROW LEVEL SECURITY`,
  ];
}
