/** The row-level policy that every table of tenants has, as `pg_policies` shows it: only rows of the tenant that the transaction named. */
export const OWN_TENANT_POLICY = {
  name: 'own_tenant',
  using: "tenant_id = nullif(current_setting('turnlock.tenant', true), '')",
  check: "tenant_id = nullif(current_setting('turnlock.tenant', true), '')",
} as const;
