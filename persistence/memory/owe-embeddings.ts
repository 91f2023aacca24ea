import type { Database } from '../database.contract.ts';
import { underMigrationLock } from '../migration-lock.ts';

/** Memories that one transaction owes a vector. */
const BATCH = 10_000;

const OWE = `with owed as (
    insert into turnlock.agent_memory_tasks (tenant_id, kind, user_id, memory_id, due_at, created_at)
      select m.tenant_id, 'embed', m.user_id, m.memory_id, moment, moment
        from turnlock.agent_memories m cross join (select turnlock.turnlock_now() as moment) one
        where m.superseded_at is null and (m.expires_at is null or m.expires_at > moment)
          and not exists (select from turnlock.agent_memory_embeddings e
            where e.tenant_id = m.tenant_id and e.user_id = m.user_id and e.memory_id = m.memory_id)
          and not exists (select from turnlock.agent_memory_tasks t
            where t.tenant_id = m.tenant_id and t.user_id = m.user_id and t.memory_id = m.memory_id)
        limit ${BATCH}
      on conflict on constraint uq_memory_task_memory do nothing
      returning 1)
  select count(*)::int as owed from owed`;

/** What was given up has its attempts again. */
const AGAIN = `update turnlock.agent_memory_tasks set attempts = 0, due_at = turnlock.turnlock_now(), last_error_code = null
  where kind = 'embed' and attempts > 0`;

const COUNT = `select count(*)::int as count from turnlock.agent_memory_tasks where kind = 'embed'`;

/**
 * Owes a vector for each memory that counts and has none, of all tenants: as the owner, in small transactions. Interrupted, it may be run again.
 * Answers with how many are owed in all.
 */
export async function oweEmbeddings(database: Database): Promise<number> {
  await underMigrationLock(database, (em) => em.execute(AGAIN));
  for (;;) {
    const [{ owed }] = await underMigrationLock(database, async (em) => (await em.execute(OWE)) as [{ owed: number }]);
    if (owed < BATCH) break;
  }
  return countOwed(database);
}

/** How many vectors are owed in all. As the owner. */
export async function countOwed(database: Database): Promise<number> {
  const [{ count }] = await underMigrationLock(
    database,
    async (em) => (await em.execute(COUNT)) as [{ count: number }],
  );
  return count;
}
