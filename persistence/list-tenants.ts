import { sessionPages } from './session-pages.ts';
import type { Store } from './session-transaction.ts';

/** How many sessions are looked at in one statement. */
const PAGE = 10_000;

/**
 * Every tenant that has a session, with how many. It pages through all sessions: for embedded databases, and the look is recorded.
 *
 * @throws PRIVILEGE_MISSING when the role may not look across tenants.
 */
export async function listTenants(store: Store): Promise<ReadonlyMap<string, number>> {
  const tenants = new Map<string, number>();
  for await (const { tenantId, sessionIds } of sessionPages(store, 'all', PAGE)) {
    tenants.set(tenantId, (tenants.get(tenantId) ?? 0) + sessionIds.length);
  }
  return tenants;
}
