import { type EmbeddingModel, embedMany, wrapEmbeddingModel } from 'ai';
import { modelIdOf } from '../models/ai-sdk/model-identity.ts';
import { tellWarnings } from '../models/ai-sdk/tell-warnings.ts';
import { toModelError } from '../models/ai-sdk/to-model-error.ts';
import { type AiSdkEmbedderSettings, checkEmbedderSettings } from './ai-sdk-embedder-settings.ts';
import { checkEmbeddings, type Embedder } from './embedder.contract.ts';
import { resolveEmbeddingModel, type SdkEmbeddingModel } from './resolve-embedding-model.ts';

/** Far below what providers take at once, so that a call stays short and little is done again after one that failed. */
const DEFAULT_BATCH = 96;

/**
 * Any embedding model of the AI SDK 7 as the embedder of a runtime.
 *
 * The SDK never repeats a request: attempts are the runtime's. More texts than the model takes at once go in several requests, one after
 * the other, and count only together.
 *
 * @throws DEFINITION_INVALID when `model` is no embedding model that version 7 of the SDK reads, or a setting is of another kind.
 * @throws EMBEDDING_FAILED from `embed`; not retryable where the provider refuses the request itself or returns other vectors than
 * promised. `details.retryAfterMs` where the provider asks for a pause.
 *
 * @example
 * const embedder = aiSdkEmbedder(openai.embeddingModel('text-embedding-3-small'), { dimensions: 512 });
 */
export function aiSdkEmbedder(model: EmbeddingModel, settings: AiSdkEmbedderSettings): Embedder {
  checkEmbedderSettings(settings);
  const found = resolveEmbeddingModel(model);
  const { dimensions, asksForDimensions = true, maxBatch = DEFAULT_BATCH, providerOptions, headers = {} } = settings;
  const modelId = modelIdOf(found, settings.modelId);
  const sdk = tellingWarnings(found, settings.onWarnings);
  const secrets = Object.values(headers).filter((value) => value !== undefined);
  return {
    modelId,
    dimensions,
    maxBatch,
    async embed(texts, { signal, purpose }) {
      signal.throwIfAborted();
      if (texts.length === 0) return [];
      try {
        const options = typeof providerOptions === 'function' ? providerOptions(purpose) : providerOptions;
        const { embeddings } = await embedMany({
          model: sdk,
          values: [...texts],
          maxRetries: 0,
          maxParallelCalls: 1,
          abortSignal: signal,
          headers,
          ...(asksForDimensions ? { dimensions } : {}),
          ...(options === undefined ? {} : { providerOptions: options }),
        });
        checkEmbeddings(embeddings, { modelId, dimensions, count: texts.length });
        return embeddings;
      } catch (thrown) {
        // The runtime knows why it aborted: that is what counts, not what the provider's client makes of it.
        signal.throwIfAborted();
        throw toModelError(thrown, { modelId, provider: found.provider, secrets, code: 'EMBEDDING_FAILED' });
      }
    },
  };
}

/** The SDK prints warnings to the console unless they are taken from the answer. */
function tellingWarnings(model: SdkEmbeddingModel, onWarnings: AiSdkEmbedderSettings['onWarnings']): EmbeddingModel {
  return wrapEmbeddingModel({
    model: model as Parameters<typeof wrapEmbeddingModel>[0]['model'],
    middleware: {
      async wrapEmbed({ doEmbed }) {
        const { warnings, ...answer } = await doEmbed();
        tellWarnings(onWarnings, warnings ?? []);
        return { ...answer, warnings: [] };
      },
    },
  });
}
