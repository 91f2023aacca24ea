import type { EntityManager } from '@mikro-orm/postgresql';
import { inPatientTransaction } from '../patient-transaction.ts';
import type { Store } from '../session-transaction.ts';

/** Which vectors are kept: only those of one model can be compared. */
export interface EmbeddingSettings {
  modelId: string;
  dimensions: number;
}

/** What of vectors a database has. */
export interface FoundEmbeddings {
  /** Where the extension is; `null`: the database does not have it. */
  extension: { schema: string; version: string } | null;
  /** `null`: no vectors are kept. */
  settings: EmbeddingSettings | null;
}

/** Where the extension is, in whatever schema; no row: nowhere. */
const FIND_EXTENSION = `select n.nspname as schema, e.extversion as version
  from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'`;

/** Looks what of vectors is there, in the transaction of `em`. Who drops the extension takes the vectors out of their table: then none are kept. */
export async function findEmbeddings(em: EntityManager): Promise<FoundEmbeddings> {
  const [extension] = (await em.execute(FIND_EXTENSION)) as NonNullable<FoundEmbeddings['extension']>[];
  const [there] = (await em.execute(
    `select to_regclass('turnlock.agent_memory_embedding_settings') is not null and exists (
       select from pg_catalog.pg_attribute where attrelid = to_regclass('turnlock.agent_memory_embeddings')
         and attname = 'embedding' and not attisdropped) as yes`,
  )) as [{ yes: boolean }];
  if (!there.yes) return { extension: extension ?? null, settings: null };
  const [settings] = (await em.execute(
    `select model_id as "modelId", dimensions from turnlock.agent_memory_embedding_settings`,
  )) as EmbeddingSettings[];
  return { extension: extension ?? null, settings: settings ?? null };
}

/** The same in a transaction of its own. */
export async function readEmbeddings(store: Store): Promise<FoundEmbeddings> {
  return inPatientTransaction(store, { tenantId: '' }, findEmbeddings);
}

/** Whether vectors of one model can be compared with those of the other. */
export function isSameModel(one: EmbeddingSettings, other: EmbeddingSettings): boolean {
  return one.modelId === other.modelId && one.dimensions === other.dimensions;
}
