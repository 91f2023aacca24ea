import { asOperator } from './operator-transaction.ts';
import type { Store } from './session-transaction.ts';

/** Larger than every id of a session: what comes after it in a list of sessions is the next tenant. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Tenants that have a session, in order, from the one after `after` on. It reads one session of each, whatever their number, and the look is
 * recorded, once for each.
 *
 * @throws PRIVILEGE_MISSING when the role may not look across tenants.
 */
export async function listSomeTenants(
  store: Store,
  { after = '', limit }: { after?: string; limit: number },
): Promise<string[]> {
  const rows = await asOperator(
    store,
    async (em) =>
      (await em.execute(
        `with recursive found(tenant_id, place) as (
           select l.tenant_id::text, 1 from turnlock.list_sessions(?::uuid, 1, ?) l
           union all
           select l.tenant_id::text, f.place + 1 from found f cross join lateral turnlock.list_sessions(?::uuid, 1, f.tenant_id) l
            where f.place < ?)
         select tenant_id from found`,
        [LAST_ID, after, LAST_ID, limit],
      )) as { tenant_id: string }[],
    { to: 'look' },
  );
  return rows.map((row) => row.tenant_id);
}
