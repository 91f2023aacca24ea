import type { EntityManager } from '@mikro-orm/postgresql';
import type { SessionKey } from './read-session.ts';
import { inTransaction, type Store } from './session-transaction.ts';

/** Who holds a session, as the row must say for the lease to be touched. */
export interface HeldLease extends SessionKey {
  holder: string;
  token: number;
}

/**
 * Extends the holder's lease by `leaseMs` from the database's present time; `false` when another one holds it by now. Raises no
 * version and needs no lock: it changes nothing that a commit decides on.
 */
export async function extendLease(store: Store, lease: HeldLease, leaseMs: number): Promise<boolean> {
  return touchLease(store, lease, `lease_expires_at = turnlock.turnlock_now() + ? * interval '1 millisecond'`, [
    leaseMs,
  ]);
}

/** Gives the lease back, so that the next worker need not wait for its expiry, and is told; `false` when another one holds it by now. */
export async function releaseLease(store: Store, lease: HeldLease): Promise<boolean> {
  return touchLease(store, lease, 'lease_holder = null, lease_expires_at = null', [], (em) =>
    em.execute('select pg_notify(?, ?)', [store.database.schema, lease.sessionId]),
  );
}

async function touchLease(
  store: Store,
  lease: HeldLease,
  assignments: string,
  values: unknown[],
  then?: (em: EntityManager) => Promise<unknown>,
): Promise<boolean> {
  const { tenantId, sessionId, holder, token } = lease;
  return inTransaction(store, { tenantId }, async (em) => {
    const rows = await em.execute(
      `update turnlock.agent_sessions set ${assignments}
        where session_id = ? and tenant_id = ? and lease_holder = ? and lease_token = ? returning 1 as touched`,
      [...values, sessionId, tenantId, holder, token],
    );
    const isOurs = (rows as unknown[]).length > 0;
    if (isOurs) await then?.(em);
    return isOurs;
  });
}
