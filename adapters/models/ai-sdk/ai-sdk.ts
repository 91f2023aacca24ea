import type { LanguageModel } from 'ai';
import type { Model, ModelContext, ModelRequest, ModelResponse } from '../model.contract.ts';
import type { AiSdkSettings } from './ai-sdk-settings.ts';
import { checkSettings } from './check-settings.ts';
import { modelIdOf, providerOf } from './model-identity.ts';
import { modelTools } from './model-tools.ts';
import { readAnswer } from './read-answer.ts';
import { requestIdOf } from './request-id.ts';
import { resolveModel } from './resolve-model.ts';
import { responseFormat } from './response-format.ts';
import type { SdkCallOptions, SdkModel } from './sdk-types.ts';
import { tellWarnings } from './tell-warnings.ts';
import { toModelError } from './to-model-error.ts';
import { toPrompt } from './to-prompt.ts';
import { toResponse } from './to-response.ts';

/**
 * Any language model of the AI SDK 7 as the model of an agent.
 *
 * The model is streamed; it never runs a tool and never repeats a request: tools and attempts are the runtime's. An answer counts only
 * once its stream came to its end. Reasoning goes back to the provider that made it, with its signature, to the byte.
 *
 * @throws DEFINITION_INVALID when `model` is no language model that version 7 of the SDK reads, or a setting is of another kind.
 * @throws MODEL_FAILED from `generate`; not retryable where the provider refuses the request itself. `details.retryAfterMs` where the
 * provider asks for a pause.
 *
 * @example
 * const agent = defineAgent({ name: 'support', model: aiSdk(openai('gpt-5')), instructions: 'Help.', tools: [] });
 */
export function aiSdk(model: LanguageModel, settings: AiSdkSettings = {}): Model {
  checkSettings(settings);
  const sdk = resolveModel(model);
  const modelId = modelIdOf(sdk, settings.modelId);
  const provider = providerOf(sdk);
  const secrets = Object.values(settings.headers ?? {}).filter((value) => value !== undefined);
  return {
    modelId,
    provider: sdk.provider,
    async generate(request, context) {
      try {
        return await ask(sdk, request, { ...context, settings, provider });
      } catch (thrown) {
        // The runtime knows why it aborted: that is what counts, not what the provider's client makes of it.
        context.signal.throwIfAborted();
        throw toModelError(thrown, { modelId, provider, secrets });
      }
    },
  };
}

async function ask(
  sdk: SdkModel,
  request: ModelRequest,
  { signal, emit, settings, provider }: ModelContext & { settings: AiSdkSettings; provider: string },
): Promise<ModelResponse> {
  const options = await callOptions(request, settings, provider);
  signal.throwIfAborted();
  const { stream, response } = await sdk.doStream({ ...options, abortSignal: signal });
  const answer = await readAnswer(stream, { signal, emit });
  tellWarnings(settings.onWarnings, answer.warnings);
  const requestId = requestIdOf(response?.headers);
  const { storeFile } = settings;
  return await toResponse(answer, {
    provider,
    ...(storeFile === undefined ? {} : { storeFile }),
    ...(requestId === undefined ? {} : { requestId }),
  });
}

async function callOptions(request: ModelRequest, settings: AiSdkSettings, provider: string): Promise<SdkCallOptions> {
  const { modelId: _, instructionsOptions, tools = {}, storeFile: __, onWarnings: ___, ...call } = settings;
  const prompt = await toPrompt(request, { provider, tools });
  const [first] = prompt;
  if (first?.role === 'system' && instructionsOptions !== undefined) first.providerOptions = instructionsOptions;
  const shown = modelTools(request.tools, tools);
  const asked = { ...call, ...responseFormat(request), prompt };
  return shown.length > 0 ? { ...asked, tools: shown } : asked;
}
