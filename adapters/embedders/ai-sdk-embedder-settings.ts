import type { embedMany } from 'ai';
import { TurnlockError } from '../../errors.ts';
import { type EmbedContext, MAX_DIMENSIONS } from './embedder.contract.ts';

// Taken from what `ai` exports, so that the packages beneath it need not be installed by name.
type SdkEmbedCall = Parameters<typeof embedMany>[0];

/** Options of a provider, by its name; as the SDK has them. */
export type EmbedOptions = NonNullable<SdkEmbedCall['providerOptions']>;

/** What `aiSdkEmbedder` takes beside the model. */
export interface AiSdkEmbedderSettings {
  /** Numbers of each vector, from 1 to 2,000. What the model returns must have as many. */
  dimensions: number;
  /**
   * Whether the provider is asked for that many; `false` for a model that has one size and refuses to be asked. Models made for the SDK's
   * versions 5 and 6 are told by `providerOptions` only. Default true.
   */
  asksForDimensions?: boolean;
  /** Stored with every vector; 1 to 64 characters. Default: the provider's id of the model, shortened where it is longer. */
  modelId?: string;
  /** Texts that one call may hold, at least 1. What the model itself allows is observed in any case. Default 96. */
  maxBatch?: number;
  /** For each call; as a function where a provider embeds what is stored and what is looked for differently. Default none. */
  providerOptions?: EmbedOptions | ((purpose: EmbedContext['purpose']) => EmbedOptions);
  /** Sent with each call. Default none. */
  headers?: Record<string, string>;
  /** Told what the provider could not honour. What it throws becomes a warning of the process. Default: ignored. */
  onWarnings?: (warnings: readonly unknown[]) => void;
}

/** @throws DEFINITION_INVALID when they are no object, or one of them is of another kind. */
export function checkEmbedderSettings(settings: unknown): asserts settings is AiSdkEmbedderSettings {
  if (!isObject(settings)) throw refused('settings', 'an object with dimensions');
  const { dimensions, asksForDimensions, maxBatch, providerOptions, headers, onWarnings } = settings;
  if (!isWhole(dimensions) || dimensions > MAX_DIMENSIONS) {
    throw refused('dimensions', `a whole number from 1 to ${MAX_DIMENSIONS}`);
  }
  if (asksForDimensions !== undefined && typeof asksForDimensions !== 'boolean') {
    throw refused('asksForDimensions', 'true or false');
  }
  if (maxBatch !== undefined && !isWhole(maxBatch)) throw refused('maxBatch', 'a whole number above 0');
  if (providerOptions !== undefined && typeof providerOptions !== 'function' && !isObject(providerOptions)) {
    throw refused('providerOptions', 'an object or a function');
  }
  if (headers !== undefined && !(isObject(headers) && Object.values(headers).every(isHeader))) {
    throw refused('headers', 'an object of texts');
  }
  if (onWarnings !== undefined && typeof onWarnings !== 'function') throw refused('onWarnings', 'a function');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function isHeader(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

/** Values are not told: one of them may be a key. */
function refused(option: string, wanted: string): TurnlockError {
  return new TurnlockError('DEFINITION_INVALID', {
    message: `embedder option not accepted: ${option} of aiSdkEmbedder (wanted ${wanted})`,
  });
}
