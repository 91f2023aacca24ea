import { inPatientTransaction } from './patient-transaction.ts';
import { type Control, readControls } from './read-controls.ts';
import { readDatabaseNow } from './read-database-now.ts';
import type { Store } from './session-transaction.ts';

/** Every freeze and budget that concerns a tenant, with what it has used of each budget today. */
export async function readTenantControls(store: Store, tenantId: string): Promise<Control[]> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const rows = (await em.execute(
      `select distinct c.tool_name from turnlock.agent_controls c
        where c.tool_name is not null and (c.tenant_id is null or c.tenant_id = ?)`,
      [tenantId],
    )) as { tool_name: string }[];
    const now = await readDatabaseNow(em);
    // Of no tool's name: the list of names may not be empty in SQL.
    return readControls(em, { tenantId, now }, ['', ...rows.map((row) => row.tool_name)]);
  });
}
