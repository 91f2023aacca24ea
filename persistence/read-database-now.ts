import type { EntityManager } from '@mikro-orm/postgresql';
import type { SessionKey } from './read-session.ts';

const NOW = '(extract(epoch from turnlock.turnlock_now()) * 1000)::bigint::text as now';

/** The database's time in whole milliseconds: the one clock of leases, deadlines and wakes. Read it after the lock. */
export async function readDatabaseNow(em: EntityManager): Promise<Date> {
  const [row] = (await em.execute(`select ${NOW}`)) as [{ now: string }];
  return new Date(Number(row.now));
}

/** The same, with the version of a session in that moment; `null` where it is not there any more. */
export async function readDatabaseNowOf(
  em: EntityManager,
  { tenantId, sessionId }: SessionKey,
): Promise<{ now: Date; version: number | null }> {
  const [row] = (await em.execute(
    `select ${NOW}, (select version from turnlock.agent_sessions where session_id = ? and tenant_id = ?) as version`,
    [sessionId, tenantId],
  )) as [{ now: string; version: number | null }];
  return { now: new Date(Number(row.now)), version: row.version };
}
