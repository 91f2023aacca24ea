import { checkEmbeddings, type Embedder } from '../../adapters/embedders/embedder.contract.ts';
import type { Environment } from '../../environment.ts';
import { isTurnlockError, TurnlockError } from '../../errors.ts';

/** How texts are embedded. */
export interface Embedding {
  embedder: Embedder;
  environment: Environment;
  timeoutMs: number;
  signal: AbortSignal;
}

/**
 * The vectors of `texts`, within the time that there is. No connection is held meanwhile.
 *
 * @throws EMBEDDING_FAILED when the embedder threw, was late, or returned something else; no text is told. What `signal` was aborted with.
 */
export async function embedTexts(
  { embedder, environment, timeoutMs, signal }: Embedding,
  texts: readonly string[],
  purpose: 'document' | 'query',
): Promise<readonly (readonly number[])[]> {
  signal.throwIfAborted();
  const { modelId, dimensions } = embedder;
  const over = new AbortController();
  const deadline = new AbortController();
  const late = environment.sleep(timeoutMs, over.signal).then(() => {
    const error = failed(modelId, `no answer within ${timeoutMs} ms`);
    deadline.abort(error);
    throw error;
  });
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: over.signal });
  });
  for (const side of [late, aborted]) side.catch(() => undefined);
  const context = { signal: AbortSignal.any([signal, deadline.signal]), purpose };
  try {
    const asked = (async () => embedder.embed(texts, context))();
    asked.catch(() => undefined);
    const embeddings = await Promise.race([asked, late, aborted]);
    checkEmbeddings(embeddings, { modelId, dimensions, count: texts.length });
    return embeddings;
  } catch (error) {
    signal.throwIfAborted();
    throw isTurnlockError(error, 'EMBEDDING_FAILED') ? error : failed(modelId, 'an error of the embedder', error);
  } finally {
    over.abort();
  }
}

function failed(modelId: string, found: string, cause?: unknown): TurnlockError {
  const { retryable } = isTurnlockError(cause) ? cause : { retryable: true };
  return new TurnlockError('EMBEDDING_FAILED', {
    message: `texts could not be embedded: ${modelId} (found ${found})`,
    retryable,
    details: { modelId },
    ...(cause === undefined ? {} : { cause }),
  });
}
