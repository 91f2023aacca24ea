import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from './database.contract.ts';
import { takeMigrationLockSql } from './migrate-sql.ts';

/** Runs `work` in one transaction, as whoever is connected, while no other process changes the schema. */
export async function underMigrationLock<Result>(
  { orm }: Database,
  work: (em: EntityManager) => Promise<Result>,
): Promise<Result> {
  return await orm.em.fork({ clear: true }).transactional(async (em) => {
    for (const statement of takeMigrationLockSql()) await em.execute(statement);
    return await work(em as EntityManager);
  });
}
