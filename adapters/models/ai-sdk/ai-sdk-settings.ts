import type { ToolSet } from 'ai';
import type { SdkCallOptions } from './sdk-types.ts';
import type { StoreFile } from './stored-file.ts';

/** What the AI SDK lets one say of a model call; as its own documentation has it. */
type CallSettings = Pick<
  SdkCallOptions,
  | 'maxOutputTokens'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'stopSequences'
  | 'seed'
  | 'reasoning'
  | 'providerOptions'
  | 'headers'
>;

/** What {@link aiSdk} takes beside the model. */
export interface AiSdkSettings extends CallSettings {
  /** Written to `active_model_id`; 1 to 64 characters. Default: the provider's id of the model, shortened where it is longer. */
  modelId?: string;
  /** Goes with the instructions only, for example a provider's mark for its cache. Default none. */
  instructionsOptions?: SdkCallOptions['providerOptions'];
  /**
   * The tools of the SDK behind `fromAiSdk`, by name: `strict`, `inputExamples`, `providerOptions`, `toModelOutput` and what a
   * provider's own tool is are then told to the model. A tool that the agent does not have is not shown. Default none.
   */
  tools?: ToolSet;
  /** Keeps the content of files that the model makes. Default: not kept; the part names type and digest. */
  storeFile?: StoreFile;
  /** Told what the provider could not honour, for example a setting that the model does not know. What it throws becomes a warning of the process. Default: ignored. */
  onWarnings?: (warnings: readonly unknown[]) => void;
}
