import { inPatientTransaction } from '../patient-transaction.ts';
import type { Store } from '../session-transaction.ts';
import type { MemoryOwner } from './new-memory.ts';

/** Whether the owner has a memory of this id, also one that is found no more. */
export async function hasMemory(store: Store, { tenantId, userId }: MemoryOwner, memoryId: string): Promise<boolean> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const rows = (await em.execute(
      'select 1 as one from turnlock.agent_memories where tenant_id = ? and user_id = ? and memory_id = ?::uuid',
      [tenantId, userId, memoryId],
    )) as unknown[];
    return rows.length > 0;
  });
}
