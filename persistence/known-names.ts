import { inPatientTransaction } from './patient-transaction.ts';
import type { Store } from './session-transaction.ts';

/** Whether a runtime has recorded a tool of that name, or, where a tenant is named, a call of it is stored there. @throws PRIVILEGE_MISSING. */
export async function isKnownTool(store: Store, toolName: string, tenantId: string | null): Promise<boolean> {
  return exists(
    store,
    tenantId ?? '',
    `select exists (select from turnlock.agent_tool_versions where tool_name = ?)
         or exists (select from turnlock.agent_tool_executions where tenant_id = ? and tool_name = ?) as known`,
    [toolName, tenantId ?? '', toolName],
  );
}

/** Whether the tenant has a session. @throws PRIVILEGE_MISSING. */
export async function isKnownTenant(store: Store, tenantId: string): Promise<boolean> {
  const text = 'select exists (select from turnlock.agent_sessions where tenant_id = ?) as known';
  return exists(store, tenantId, text, [tenantId]);
}

async function exists(store: Store, tenantId: string, text: string, values: string[]): Promise<boolean> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const [row] = (await em.execute(text, values)) as [{ known: boolean }];
    return row.known;
  });
}
