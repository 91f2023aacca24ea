import { TurnlockError } from '../../errors.ts';
import { MAX_CHARACTERS } from '../../limits.ts';

/** What an embedder is handed beside the texts. */
export interface EmbedContext {
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** `document` for what is stored, `query` for what is looked for: some models embed the two differently, so that they meet. */
  purpose: 'document' | 'query';
}

/** The port to what turns texts into vectors, so that texts of like meaning lie near each other by cosine. */
export interface Embedder {
  /** Stored with every vector; 1 to 64 characters. Another id stands for vectors that cannot be compared with these. */
  readonly modelId: string;
  /** Numbers of each vector, from 1 to {@link MAX_DIMENSIONS}. */
  readonly dimensions: number;
  /** Texts that one call may hold, at least 1. Default: the runtime's own bound. */
  readonly maxBatch?: number;
  /**
   * One vector of `dimensions` numbers for each text, in the order of the texts. Its length is of no account, but it is not zero.
   *
   * The same text may be asked for again, also by another process. Whatever it throws is a failed attempt: retries are the runtime's; throw
   * a `TurnlockError` with `retryable: false` where a further attempt cannot help. It must stop soon after `signal` aborts; for one that has
   * aborted before, it rejects.
   */
  embed(texts: readonly string[], context: EmbedContext): Promise<readonly (readonly number[])[]>;
}

/** What the index of the database holds at most. Larger models are asked for fewer dimensions, as those that support it allow. */
export const MAX_DIMENSIONS = 2_000;

/** @throws OPTIONS_INVALID for what is no {@link Embedder}. */
export function checkEmbedder(given: unknown): asserts given is Embedder {
  if (typeof given !== 'object' || given === null) throw refused('embedder', 'an object');
  const { modelId, dimensions, maxBatch, embed } = given as Record<keyof Embedder, unknown>;
  if (typeof modelId !== 'string' || modelId === '' || [...modelId].length > MAX_CHARACTERS.modelId) {
    throw refused('modelId of the embedder', `1 to ${MAX_CHARACTERS.modelId} characters`);
  }
  if (!isWhole(dimensions) || dimensions > MAX_DIMENSIONS) {
    throw refused('dimensions of the embedder', `a whole number from 1 to ${MAX_DIMENSIONS}`);
  }
  if (maxBatch !== undefined && !isWhole(maxBatch)) throw refused('maxBatch of the embedder', 'a whole number above 0');
  if (typeof embed !== 'function') throw refused('embed of the embedder', 'a function');
}

/**
 * What an embedder returned for `count` texts, once it is known to be what the database can hold and compare: as many vectors, each of
 * `dimensions` numbers that are finite as 4-byte floats, none of them zero.
 *
 * @throws EMBEDDING_FAILED for anything else; no text is told. Not retryable: the same call is answered the same way.
 */
export function checkEmbeddings(
  embeddings: unknown,
  { modelId, dimensions, count }: { modelId: string; dimensions: number; count: number },
): asserts embeddings is readonly (readonly number[])[] {
  const problem = problemOf(embeddings, { dimensions, count });
  if (problem === null) return;
  throw new TurnlockError('EMBEDDING_FAILED', {
    message: `embeddings not accepted: ${modelId} (found ${problem}, wanted ${count} vectors of ${dimensions} numbers)`,
    retryable: false,
    hint: 'Correct the embedder, or the number of dimensions that it says it has.',
    details: { modelId, dimensions, count },
  });
}

function problemOf(embeddings: unknown, { dimensions, count }: { dimensions: number; count: number }): string | null {
  if (!Array.isArray(embeddings)) return 'no list';
  if (embeddings.length !== count) return `${embeddings.length} vectors`;
  for (const embedding of embeddings) {
    if (!Array.isArray(embedding)) return 'a vector that is no list';
    if (embedding.length !== dimensions) return `a vector of ${embedding.length}`;
    // A hole is looked at too, as `every` would not.
    if (embedding.findIndex((number) => !Number.isFinite(number)) >= 0) return 'a number that is not finite';
    // The length is what cosine divides by, and the database computes it in 4-byte floats.
    const square = Math.fround(embedding.reduce((sum, number) => sum + number * number, 0));
    if (square === 0) return 'a vector of length 0';
    if (!Number.isFinite(square)) return 'a vector too long for 4-byte floats';
  }
  return null;
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function refused(option: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', { message: `option not accepted: ${option} (wanted ${wanted})` });
}
