import type { MemoryOwner } from '../../persistence/memory/new-memory.ts';
import { type FoundMemory, newestMemories, recallMemories } from '../../persistence/memory/recall-memories.ts';
import { optionRefused } from '../check-query.ts';
import type { Services } from '../services.ts';
import type { CheckedRecall } from './check-memory.ts';

/** What `recall` found. */
export interface Recalled {
  /** Best first. */
  memories: FoundMemory[];
  /** By what was looked for: `text` also where the embedder failed, or no vectors are kept; `recency` for an empty query. */
  searchedBy: 'hybrid' | 'text' | 'vector' | 'recency';
}

/**
 * The owner's memories that fit: the query is embedded first, with no connection held, and then searched for by one statement. Where
 * `signal` aborts, the embedder is not waited for.
 *
 * @throws OPTIONS_INVALID for `by: 'vector'` where the runtime has no vectors. EMBEDDING_FAILED with it, when the embedder fails.
 * DATABASE_UNREACHABLE.
 */
export async function searchMemories(
  { store, memory: { vectorWork } }: Pick<Services, 'store' | 'memory'>,
  owner: MemoryOwner,
  { query, by, limit, ...filter }: CheckedRecall,
  signal?: AbortSignal,
): Promise<Recalled> {
  if (by === 'vector' && vectorWork === null) {
    throw optionRefused('by', 'hybrid or text, where the runtime keeps no vectors');
  }
  if (query === '')
    return { memories: await newestMemories(store, owner, { ...filter, limit }), searchedBy: 'recency' };
  const embed = () =>
    by === 'vector' ? vectorWork?.embedQuery(query, signal) : vectorWork?.queryVector(query, signal);
  const vector = by === 'text' ? null : ((await embed()) ?? null);
  const text = by === 'vector' ? null : query;
  const memories = await recallMemories(store, owner, { ...filter, text, vector, limit });
  return { memories, searchedBy: vector === null ? 'text' : text === null ? 'vector' : 'hybrid' };
}
