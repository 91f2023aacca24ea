import { inPatientTransaction } from '../patient-transaction.ts';
import type { Store } from '../session-transaction.ts';
import type { MemoryKind, MemoryOwner } from './new-memory.ts';

/** What of the owner's is to be forgotten: these, or all that fit. */
export type Forgotten =
  | { memoryIds: readonly string[] }
  | { kinds?: readonly MemoryKind[]; sessionId?: string; olderThan?: Date };

/** Memories that one transaction forgets. */
const BATCH = 1_000;

/**
 * Deletes memories with their vectors and what is owed for them; what they had superseded stays superseded. In small transactions: interrupted,
 * what is left is forgotten by asking again. Answers with how many.
 */
export async function forgetMemories(store: Store, owner: MemoryOwner, forgotten: Forgotten): Promise<number> {
  const { where, values } = conditions(forgotten);
  const own = [owner.tenantId, owner.userId];
  for (let sum = 0; ; ) {
    const count = await inPatientTransaction(store, { tenantId: owner.tenantId }, async (em) => {
      const [row] = (await em.execute(
        `with gone as (delete from turnlock.agent_memories where tenant_id = ? and user_id = ? and memory_id in (
             select m.memory_id from turnlock.agent_memories m where m.tenant_id = ? and m.user_id = ?${where}
               order by m.memory_id limit ${BATCH} for update) returning 1)
           select count(*)::int as count from gone`,
        [...own, ...own, ...values],
      )) as [{ count: number }];
      return row.count;
    });
    sum += count;
    if (count < BATCH) return sum;
  }
}

function conditions(forgotten: Forgotten): { where: string; values: unknown[] } {
  if ('memoryIds' in forgotten) {
    return { where: ' and m.memory_id = any (?::uuid[])', values: [`{${forgotten.memoryIds.join(',')}}`] };
  }
  const { kinds, sessionId, olderThan } = forgotten;
  const given: [string, unknown][] = [];
  if (kinds !== undefined) {
    given.push([' and m.kind = any (array(select jsonb_array_elements_text(?::jsonb)))', JSON.stringify(kinds)]);
  }
  if (sessionId !== undefined) given.push([' and m.session_id = ?::uuid', sessionId]);
  if (olderThan !== undefined) given.push([' and m.created_at < ?::timestamptz', olderThan.toISOString()]);
  return { where: given.map(([text]) => text).join(''), values: given.map(([, value]) => value) };
}
