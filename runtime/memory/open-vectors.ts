import type { Embedder } from '../../adapters/embedders/embedder.contract.ts';
import { TurnlockError } from '../../errors.ts';
import type { VectorStore } from '../../persistence/memory/embedding-rows.ts';
import { type EmbeddingSettings, isSameModel, readEmbeddings } from '../../persistence/memory/embedding-settings.ts';
import { makeEmbeddings } from '../../persistence/memory/make-embeddings.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import type { CheckedMemoryOptions } from './memory-options.ts';

type OnWarning = (warning: { code: string; message: string }) => void;

/**
 * The vectors that the embedder of a runtime may use; `null`: it has none, or the database keeps none of it, which is a warning. With `makes` their
 * table is made where it is missing.
 *
 * @throws EMBEDDING_MISMATCH when vectors of another model are kept, unless it is told to go on with text alone.
 */
export async function openVectors(
  store: Store,
  { embedder, whenMismatched }: CheckedMemoryOptions,
  { makes, onWarning }: { makes: boolean; onWarning: OnWarning },
): Promise<VectorStore | null> {
  if (embedder === null) return null;
  const wanted = settingsOf(embedder);
  if (makes) await makeEmbeddings(store.database, wanted);
  const { extension, settings } = await readEmbeddings(store);
  if (settings !== null && !isSameModel(settings, wanted)) {
    const error = mismatch(settings, wanted);
    if (whenMismatched === 'refuse') throw error;
    onWarning({ code: error.code, message: `Searches go by text alone: ${error.message}` });
    return null;
  }
  if (extension !== null && settings !== null) return { ...settings, extension };
  const found = extension === null ? 'no extension `vector` in the database' : 'no table for vectors';
  onWarning({
    code: 'MEMORY_TEXT_ONLY',
    message: `Memory searches by text alone: found ${found}. \`turnlock migrate --embedding-dimensions ${wanted.dimensions}\` makes it.`,
  });
  return null;
}

/** What an embedder makes. */
export function settingsOf({ modelId, dimensions }: Embedder): EmbeddingSettings {
  return { modelId, dimensions };
}

/** The refusal of vectors of another model. */
export function mismatch(found: EmbeddingSettings, wanted: EmbeddingSettings): TurnlockError {
  const words = ({ modelId, dimensions }: EmbeddingSettings) =>
    `${dimensions} dimensions of ${JSON.stringify(modelId)}`;
  return new TurnlockError('EMBEDDING_MISMATCH', {
    message: `embedder does not fit the vectors that are kept: (found ${words(found)}, wanted ${words(wanted)})`,
    details: { found, wanted },
  });
}
