import type { EntityManager } from '@mikro-orm/postgresql';

/** The database's time in whole milliseconds: the one clock of leases, deadlines and wakes. Read it after the lock. */
export async function readDatabaseNow(em: EntityManager): Promise<Date> {
  const [row] = (await em.execute(
    'select (extract(epoch from turnlock.turnlock_now()) * 1000)::bigint::text as now',
  )) as [{ now: string }];
  return new Date(Number(row.now));
}
