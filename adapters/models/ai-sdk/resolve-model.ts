import { gateway, type LanguageModel, wrapLanguageModel } from 'ai';
import { TurnlockError } from '../../../errors.ts';
import type { SdkModel } from './sdk-types.ts';

/** Versions of the model interface that AI SDK 7 reads. */
const VERSIONS: readonly unknown[] = ['v2', 'v3', 'v4'];

/**
 * The model itself. A text is an id of the SDK's default provider, which is its gateway unless the application set another one;
 * models that were made for the SDK's versions 5 and 6 are adapted by it.
 *
 * @throws DEFINITION_INVALID when it is no language model, or of an interface that version 7 does not read.
 */
export function resolveModel(model: LanguageModel): SdkModel {
  const found = typeof model === 'string' ? byId(model) : model;
  if (!VERSIONS.includes(found?.specificationVersion) || typeof found.doStream !== 'function' || !isNamed(found)) {
    throw new TurnlockError('DEFINITION_INVALID', {
      message: `model not accepted: aiSdk (found ${describe(found)}, wanted a language model of AI SDK 5, 6 or 7)`,
      hint: 'Pass what a provider of the AI SDK makes, for example openai("gpt-5") of @ai-sdk/openai.',
    });
  }
  return wrapLanguageModel({ model: found, middleware: [] });
}

function byId(id: string): Exclude<LanguageModel, string> {
  if (id === '') throw new TurnlockError('DEFINITION_INVALID', { message: 'model not accepted: aiSdk (found no id)' });
  return (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(id);
}

function isNamed({ modelId, provider }: { modelId: unknown; provider: unknown }): boolean {
  return typeof modelId === 'string' && typeof provider === 'string';
}

function describe(found: unknown): string {
  if (typeof found !== 'object' || found === null) return found === null ? 'null' : typeof found;
  const { specificationVersion: version } = found as { specificationVersion?: unknown };
  if (typeof version !== 'string') return 'object';
  return VERSIONS.includes(version)
    ? `interface ${version} without doStream, modelId or provider`
    : `interface ${version}`;
}
