import type { EntityManager } from '@mikro-orm/postgresql';
import { inPatientTransaction } from '../patient-transaction.ts';
import type { Store } from '../session-transaction.ts';
import type { EmbeddingSettings } from './embedding-settings.ts';
import { quoteName } from './embeddings-sql.ts';
import { finishTask, type MemoryTask } from './memory-tasks.ts';
import type { MemoryOwner } from './new-memory.ts';

/** A claimed task that makes the vector of a memory. */
export type EmbedTask = Extract<MemoryTask, { kind: 'embed' }>;

/** Which vectors a runtime keeps, and where their type is. */
export interface VectorStore extends EmbeddingSettings {
  extension: { schema: string; version: string };
}

/** The texts of memories, by the id of the task that is owed for them; one that is gone has none. */
export async function readContents(store: Store, tasks: readonly EmbedTask[]): Promise<Map<string, string>> {
  const contents = new Map<string, string>();
  for (const [tenantId, own] of byTenant(tasks)) {
    await inPatientTransaction(store, { tenantId }, async (em) => {
      const rows = (await em.execute(
        `select t.task_id, m.content from turnlock.agent_memory_tasks t
           join turnlock.agent_memories m on m.tenant_id = t.tenant_id and m.user_id = t.user_id and m.memory_id = t.memory_id
           where t.tenant_id = ? and t.task_id = any (?::uuid[])`,
        [tenantId, idsOf(own)],
      )) as { task_id: string; content: string }[];
      for (const row of rows) contents.set(row.task_id, row.content);
    });
  }
  return contents;
}

/**
 * Stores vectors and forgets their tasks, in one transaction for each tenant. `false`: vectors of another model are kept by now, and
 * nothing was written.
 */
export async function writeEmbeddings(
  store: Store,
  vectors: VectorStore,
  made: readonly { task: EmbedTask; embedding: readonly number[] }[],
): Promise<boolean> {
  for (const [tenantId, own] of byTenant(made.map(({ task }) => task))) {
    const ids = new Set(own.map(({ taskId }) => taskId));
    const isWritten = await inPatientTransaction(store, { tenantId }, async (em) => {
      for (const one of made) {
        if (ids.has(one.task.taskId) && !(await storeVector(em, vectors, one))) return false;
      }
      return true;
    });
    if (!isWritten) return false;
  }
  return true;
}

/** Stores one vector and forgets its task; `false`, and nothing is written, where vectors of another model are kept by now. */
export async function storeVector(
  em: EntityManager,
  vectors: VectorStore,
  { task, embedding }: { task: EmbedTask; embedding: readonly number[] },
): Promise<boolean> {
  if (!(await isStillKept(em, vectors))) return false;
  await writeEmbedding(em, vectors, task, embedding);
  await finishTask(em, task);
  return true;
}

/** Reading the settings waits for whoever replaces the vectors, and keeps others from it until the transaction ends. */
async function isStillKept(em: EntityManager, { modelId, dimensions }: EmbeddingSettings): Promise<boolean> {
  const rows = (await em.execute(
    `select 1 as one from turnlock.agent_memory_embedding_settings where model_id = ? and dimensions = ?`,
    [modelId, dimensions],
  )) as unknown[];
  return rows.length > 0;
}

/** A memory that was forgotten meanwhile has no row to point at, and gets no vector. */
async function writeEmbedding(
  em: EntityManager,
  { extension }: VectorStore,
  { tenantId, userId, memoryId }: MemoryOwner & { memoryId: string },
  embedding: readonly number[],
): Promise<void> {
  await em.execute(
    `insert into turnlock.agent_memory_embeddings as e (tenant_id, user_id, memory_id, embedding, created_at)
       select m.tenant_id, m.user_id, m.memory_id, ?::${quoteName(extension.schema)}.vector, turnlock.turnlock_now()
         from turnlock.agent_memories m where m.tenant_id = ? and m.user_id = ? and m.memory_id = ?::uuid for key share
       on conflict on constraint agent_memory_embeddings_pkey do update
         set embedding = excluded.embedding, created_at = excluded.created_at`,
    [`[${embedding.join(',')}]`, tenantId, userId, memoryId],
  );
}

/** The tasks that are owed for the vectors of these memories. */
export async function findEmbedTasks(
  store: Store,
  owner: MemoryOwner,
  memoryIds: readonly string[],
): Promise<string[]> {
  return inPatientTransaction(store, { tenantId: owner.tenantId }, async (em) => {
    const rows = (await em.execute(
      `select task_id from turnlock.agent_memory_tasks
         where tenant_id = ? and user_id = ? and kind = 'embed' and memory_id = any (?::uuid[])`,
      [owner.tenantId, owner.userId, `{${memoryIds.join(',')}}`],
    )) as { task_id: string }[];
    return rows.map((row) => row.task_id);
  });
}

function byTenant(tasks: readonly EmbedTask[]): Map<string, EmbedTask[]> {
  return Map.groupBy(tasks, ({ tenantId }) => tenantId);
}

function idsOf(tasks: readonly EmbedTask[]): string {
  return `{${tasks.map(({ taskId }) => taskId).join(',')}}`;
}
