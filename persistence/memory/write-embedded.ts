import { inPatientTransaction } from '../patient-transaction.ts';
import type { Store } from '../session-transaction.ts';
import { storeVector, type VectorStore } from './embedding-rows.ts';
import { insertMemory, type MemoryOwner, type NewMemory } from './new-memory.ts';

/**
 * Stores a memory together with its vector, in one transaction. Where vectors of another model are kept by then its vector stays owed.
 * Whether it was there already.
 */
export async function writeEmbedded(
  store: Store,
  owner: MemoryOwner,
  memory: NewMemory,
  { vectors, embedding }: { vectors: VectorStore; embedding: readonly number[] },
): Promise<boolean> {
  return inPatientTransaction(store, { tenantId: owner.tenantId }, async (em, attempt) => {
    const { memoryId, repeated, taskId } = await insertMemory(em, owner, memory);
    if (taskId !== null) {
      const task = { taskId, kind: 'embed' as const, attempts: 1, memoryId, ...owner };
      await storeVector(em, vectors, { task, embedding });
    }
    return repeated && attempt === 1;
  });
}
