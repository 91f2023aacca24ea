import { asOperator } from './operator-transaction.ts';
import type { Store } from './session-transaction.ts';

/** How many sessions are looked at in one statement. */
const PAGE = 10_000;

interface PageRow {
  tenant_id: string;
  sessions: number;
  last_session_id: string;
}

/**
 * Every tenant that has a session, with how many. It pages through all sessions: for embedded databases, and the look is recorded.
 *
 * @throws PRIVILEGE_MISSING when the role may not look across tenants.
 */
export async function listTenants(store: Store): Promise<ReadonlyMap<string, number>> {
  const tenants = new Map<string, number>();
  for (let after: string | null = null; ; ) {
    const rows: PageRow[] = await readPage(store, after);
    for (const row of rows) tenants.set(row.tenant_id, (tenants.get(row.tenant_id) ?? 0) + row.sessions);
    const read = rows.reduce((sum, row) => sum + row.sessions, 0);
    if (read < PAGE) return tenants;
    after =
      rows
        .map((row) => row.last_session_id)
        .sort()
        .at(-1) ?? null;
  }
}

function readPage(store: Store, after: string | null): Promise<PageRow[]> {
  return asOperator(
    store,
    async (em) =>
      (await em.execute(
        `select tenant_id, count(*)::int as sessions, max(session_id::text) as last_session_id
           from turnlock.list_sessions(?::uuid, ?) group by tenant_id order by tenant_id`,
        [after, PAGE],
      )) as PageRow[],
  );
}
