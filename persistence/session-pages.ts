import { asOperator } from './operator-transaction.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** Which sessions are paged through: one, those of a tenant, or all. */
export type SessionScope = SessionKey | { tenantId: string } | 'all';

/** Some sessions of one tenant. */
export interface SessionPage {
  tenantId: string;
  sessionIds: string[];
}

interface KeyRow {
  tenant_id: string;
  session_id: string;
}

/**
 * The sessions of `scope`, at most `size` at a time, in the order of their tenants and ids. Each page is a short transaction of its own, so
 * nothing is held between them; what is created meanwhile may be left out. Looking across tenants is recorded, once a page.
 *
 * @throws PRIVILEGE_MISSING when the role may not look across tenants.
 */
export async function* sessionPages(store: Store, scope: SessionScope, size: number): AsyncGenerator<SessionPage> {
  if (scope !== 'all' && 'sessionId' in scope) {
    yield { tenantId: scope.tenantId, sessionIds: [scope.sessionId] };
    return;
  }
  for (let after: KeyRow | null = null; ; ) {
    const rows: KeyRow[] =
      scope === 'all' ? await keysOfAll(store, after, size) : await keysOf(store, scope, after, size);
    yield* byTenant(rows);
    after = rows.at(-1) ?? null;
    if (after === null || rows.length < size) return;
  }
}

function byTenant(rows: readonly KeyRow[]): SessionPage[] {
  const pages = new Map<string, string[]>();
  for (const { tenant_id, session_id } of rows) pages.set(tenant_id, [...(pages.get(tenant_id) ?? []), session_id]);
  return [...pages].map(([tenantId, sessionIds]) => ({ tenantId, sessionIds }));
}

function keysOfAll(store: Store, after: KeyRow | null, size: number): Promise<KeyRow[]> {
  const place = [after?.session_id ?? null, size, after?.tenant_id ?? null];
  return asOperator(
    store,
    async (em) =>
      (await em.execute('select tenant_id, session_id from turnlock.list_sessions(?::uuid, ?, ?)', place)) as KeyRow[],
    { to: 'look' },
  );
}

function keysOf(
  store: Store,
  { tenantId }: { tenantId: string },
  after: KeyRow | null,
  size: number,
): Promise<KeyRow[]> {
  return inPatientTransaction(
    store,
    { tenantId },
    async (em) =>
      (await em.execute(
        `select tenant_id, session_id from turnlock.agent_sessions
          where tenant_id = ? and (?::uuid is null or session_id > ?::uuid) order by session_id limit ?`,
        [tenantId, after?.session_id ?? null, after?.session_id ?? null, size],
      )) as KeyRow[],
  );
}
