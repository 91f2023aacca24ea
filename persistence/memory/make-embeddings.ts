import type { Database } from '../database.contract.ts';
import { underMigrationLock } from '../migration-lock.ts';
import { toTurnlockError } from '../sqlstate.ts';
import { type EmbeddingSettings, findEmbeddings, isSameModel } from './embedding-settings.ts';
import { CREATE_EXTENSION, embeddingsTableSql, LOCK_TABLES, settingsTableSql } from './embeddings-sql.ts';
import { oweEmbeddings } from './owe-embeddings.ts';

/** What became of it. */
export type MadeEmbeddings =
  | { outcome: 'made' | 'replaced' | 'kept'; settings: EmbeddingSettings }
  /** Vectors of another model are kept, and stay. */
  | { outcome: 'differs'; settings: EmbeddingSettings }
  /** The server has no extension `vector`, or this role may not create it. */
  | { outcome: 'unavailable'; settings: null };

/**
 * Makes the table for the vectors of one model, with the extension where that is missing. One process at a time, all or nothing; then a vector
 * is owed for each memory that has none, in small transactions. Where vectors of another model are kept they stay, unless `replace`: then they
 * are dropped, and searches go by text until they are made anew.
 *
 * @throws PRIVILEGE_MISSING when the role is not the owner of the schema.
 */
export async function makeEmbeddings(
  database: Database,
  wanted: EmbeddingSettings,
  { replace = false }: { replace?: boolean } = {},
): Promise<MadeEmbeddings> {
  try {
    return await database.unhurried(async () => {
      const made = await make(database, wanted, replace);
      if (made.outcome === 'made' || made.outcome === 'replaced') await oweEmbeddings(database);
      return made;
    });
  } catch (error) {
    throw toTurnlockError(error);
  }
}

async function make(database: Database, wanted: EmbeddingSettings, replace: boolean): Promise<MadeEmbeddings> {
  return underMigrationLock(database, async (em) => {
    const before = await findEmbeddings(em);
    if (before.settings !== null && !isSameModel(before.settings, wanted) && !replace) {
      return { outcome: 'differs', settings: before.settings };
    }
    if (before.extension === null) await em.execute(CREATE_EXTENSION);
    const { extension, settings } = await findEmbeddings(em);
    if (extension === null) return { outcome: 'unavailable', settings: null };
    const isKept = settings !== null && isSameModel(settings, wanted);
    if (!isKept) {
      // Whoever writes vectors has read the settings in the same transaction: none of another model comes in afterwards.
      await em.execute(LOCK_TABLES);
      await em.execute('drop table if exists turnlock.agent_memory_embeddings');
      for (const statement of [...settingsTableSql(), ...embeddingsTableSql(wanted, extension.schema)]) {
        await em.execute(statement);
      }
      await em.execute(
        `insert into turnlock.agent_memory_embedding_settings (model_id, dimensions) values (?, ?)
           on conflict (settings_id) do update set model_id = excluded.model_id, dimensions = excluded.dimensions`,
        [wanted.modelId, wanted.dimensions],
      );
    }
    return { outcome: isKept ? 'kept' : settings === null ? 'made' : 'replaced', settings: wanted };
  });
}
