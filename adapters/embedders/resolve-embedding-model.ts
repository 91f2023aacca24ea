import { type EmbeddingModel, gateway } from 'ai';
import { TurnlockError } from '../../errors.ts';

/** An embedding model of the AI SDK that is no id. */
export type SdkEmbeddingModel = Exclude<EmbeddingModel, string>;

/** Versions of the model interface that AI SDK 7 reads. */
const VERSIONS: readonly unknown[] = ['v2', 'v3', 'v4'];

/**
 * The model itself. A text is an id of the SDK's default provider, which is its gateway unless the application set another one.
 *
 * @throws DEFINITION_INVALID when it is no embedding model, or of an interface that version 7 does not read.
 */
export function resolveEmbeddingModel(model: EmbeddingModel): SdkEmbeddingModel {
  const found = typeof model === 'string' && model !== '' ? byId(model) : (model as Partial<SdkEmbeddingModel> | null);
  if (
    VERSIONS.includes(found?.specificationVersion) &&
    typeof found?.doEmbed === 'function' &&
    typeof found.modelId === 'string' &&
    typeof found.provider === 'string'
  ) {
    return found as SdkEmbeddingModel;
  }
  throw new TurnlockError('DEFINITION_INVALID', {
    message: 'model not accepted: aiSdkEmbedder (wanted an embedding model of AI SDK 5, 6 or 7)',
    hint: 'Pass what a provider of the AI SDK makes, for example openai.embeddingModel("text-embedding-3-small") of @ai-sdk/openai.',
  });
}

function byId(id: string): SdkEmbeddingModel {
  const provider = globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway;
  return 'embeddingModel' in provider ? provider.embeddingModel(id) : provider.textEmbeddingModel(id);
}
