import { TENANT_TABLES } from '../../migrations/initial/policies.sql.ts';
import type { RuntimeDatabase } from '../support/runtime-database.ts';

/** Every row of a tenant, as text. */
export async function rowsOf(database: RuntimeDatabase, tenantId: string): Promise<string> {
  const all: string[] = [];
  for (const table of TENANT_TABLES) {
    const rows = await database.query(
      `SELECT to_jsonb(t)::text AS row FROM turnlock.${table} t WHERE tenant_id = $1 ORDER BY 1`,
      [tenantId],
    );
    all.push(table, ...rows.map(({ row }) => row));
  }
  return all.join('\n');
}
