import type { EntityManager } from '@mikro-orm/postgresql';
import type { SessionKey } from './read-session.ts';
import { inTransaction, type Store } from './session-transaction.ts';

/** Who holds a session, as the row must say for the lease to be touched. */
export interface HeldLease extends SessionKey {
  holder: string;
  token: number;
}

/** A lease that was extended. */
export interface ExtendedLease {
  /** Whether the inbox has what cannot wait until the run's next commit: an interruption, what supersedes, a parent's word. */
  isCalled: boolean;
}

/*
 * What came past the session's lock, by a caller's transaction or by SQL, raises no version: nobody would tell the holder while a model or
 * a tool is out. Asked in the statement that extends the lease, it costs no round trip (shown by the heard-calls tests).
 */
const IS_CALLED = `exists (
  select from turnlock.agent_inbox i where i.session_id = agent_sessions.session_id and i.rejected_at is null
     and (i.kind = 'cancel' or (i.noted_at is null and i.when_busy in ('interrupt', 'supersede')))
) as is_called`;

/**
 * Extends the holder's lease by `leaseMs` from the database's present time; `null` when another one holds it by now. Raises no version
 * and needs no lock: it changes nothing that a commit decides on.
 */
export async function extendLease(store: Store, lease: HeldLease, leaseMs: number): Promise<ExtendedLease | null> {
  const set = `lease_expires_at = turnlock.turnlock_now() + ? * interval '1 millisecond'`;
  return inTransaction(store, lease, async (em) => {
    const row = await touchLease(em, lease, { set, values: [leaseMs], returning: IS_CALLED });
    return row === null ? null : { isCalled: row.is_called === true };
  });
}

/** Gives the lease back, so that the next worker need not wait for its expiry, and is told; `false` when another one holds it by now. */
export async function releaseLease(store: Store, lease: HeldLease): Promise<boolean> {
  const set = 'lease_holder = null, lease_expires_at = null';
  return inTransaction(store, lease, async (em) => {
    const row = await touchLease(em, lease, { set, values: [], returning: '1 as touched' });
    if (row === null) return false;
    await em.execute('select pg_notify(?, ?)', [store.database.schema, lease.sessionId]);
    return true;
  });
}

async function touchLease(
  em: EntityManager,
  { tenantId, sessionId, holder, token }: HeldLease,
  { set, values, returning }: { set: string; values: unknown[]; returning: string },
): Promise<Record<string, unknown> | null> {
  const rows = await em.execute(
    `update turnlock.agent_sessions set ${set}
      where session_id = ? and tenant_id = ? and lease_holder = ? and lease_token = ? returning ${returning}`,
    [...values, sessionId, tenantId, holder, token],
  );
  return (rows as Record<string, unknown>[])[0] ?? null;
}
