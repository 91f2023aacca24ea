import { checkEmbedder } from '../../../adapters/embedders/embedder.contract.ts';
import { TurnlockError } from '../../../errors.ts';
import type { EmbeddingSettings } from '../../../persistence/memory/embedding-settings.ts';
import { checkMemoryOptions } from '../../../runtime/memory/memory-options.ts';
import type { Settings } from '../read-settings.ts';

/** Which vectors `turnlock migrate` is to make. */
export interface EmbeddingOptions {
  /** `true`: those of the configuration's embedder. */
  embeddingDimensions?: string | true;
  embeddingModel?: string;
}

/** Whether they are asked for. */
export function isEmbeddingAsked({ embeddingDimensions, embeddingModel }: EmbeddingOptions): boolean {
  return embeddingDimensions !== undefined || embeddingModel !== undefined;
}

/** What is asked for, completed by the embedder of the configuration. @throws OPTIONS_INVALID. */
export function embeddingOf(settings: Settings, asked: EmbeddingOptions): EmbeddingSettings {
  const { embedder } = checkMemoryOptions(settings.memory ?? {});
  const { embeddingDimensions: given = true, embeddingModel: modelId = embedder?.modelId } = asked;
  const dimensions = given === true ? embedder?.dimensions : Number(given);
  if (modelId === undefined || dimensions === undefined) {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `${modelId === undefined ? '--embedding-model' : '--embedding-dimensions'} is missing (found no embedder in the configuration)`,
      hint: 'Pass both, or export `memory: { embedder }` from turnlock.config.ts.',
    });
  }
  checkEmbedder({ modelId, dimensions, embed: () => [] });
  return { modelId, dimensions };
}
