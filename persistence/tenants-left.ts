import { asOperator } from './operator-transaction.ts';
import type { Store } from './session-transaction.ts';

/**
 * Tenants that have memories or business keys and no session, in order. It reads `size` tenants at a time, each page in a short transaction of
 * its own that is recorded.
 *
 * @throws PRIVILEGE_MISSING when the role may not look across tenants.
 */
export async function* tenantsLeft(store: Store, size: number): AsyncGenerator<string> {
  for (let after: string | null = null; ; ) {
    const rows: { tenantId: string; hasSessions: boolean }[] = await asOperator(
      store,
      async (em) =>
        em.execute(
          'select tenant_id as "tenantId", has_sessions as "hasSessions" from turnlock.list_keeping_tenants(?, ?)',
          [after, size],
        ),
      { to: 'look' },
    );
    for (const { tenantId, hasSessions } of rows) if (!hasSessions) yield tenantId;
    after = rows.at(-1)?.tenantId ?? null;
    if (after === null || rows.length < size) return;
  }
}
