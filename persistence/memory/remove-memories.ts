import { asOperator } from '../operator-transaction.ts';
import type { Store } from '../session-transaction.ts';

/** How many memories expired or were superseded so long ago, of one tenant or of all. @throws PRIVILEGE_MISSING. */
export async function countOldMemories(store: Store, olderThanMs: number, tenantId: string | null): Promise<number> {
  const [row] = await asOperator(
    store,
    async (em) =>
      (await em.execute('select turnlock.count_old_memories(?::bigint, ?)::int as count', [olderThanMs, tenantId])) as [
        { count: number },
      ],
  );
  return row.count;
}

/** Removes at most `max` of them; answers with how many. @throws PRIVILEGE_MISSING. */
export async function removeMemories(
  store: Store,
  olderThanMs: number,
  { tenantId, max }: { tenantId: string | null; max: number },
): Promise<number> {
  const [row] = await asOperator(
    store,
    async (em) =>
      (await em.execute('select turnlock.remove_memories(?::bigint, ?, ?) as count', [olderThanMs, tenantId, max])) as [
        { count: number },
      ],
  );
  return row.count;
}
