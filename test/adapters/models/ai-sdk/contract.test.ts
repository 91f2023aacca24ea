import { APICallError } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import type { SdkStreamPart } from '../../../../adapters/models/ai-sdk/sdk-types.ts';
import { aiSdk } from '../../../../adapters/models/ai-sdk.ts';
import { modelContract, type ProviderAct, type ProviderAnswer } from '../../../../testing/contracts/model-contract.ts';
import { contractTests } from '../../../testing/contracts/contract-tests.ts';
import { finish, toolCall } from './mock-model.ts';

/** The stream of a provider that says this. */
function streamOf({ pieces, toolCalls, usage }: ProviderAnswer): ReadableStream<SdkStreamPart> {
  const { inputTokens, outputTokens } = usage;
  return ReadableStream.from([
    { type: 'text-start', id: '0' },
    ...pieces.map((delta) => ({ type: 'text-delta' as const, id: '0', delta })),
    { type: 'text-end', id: '0' },
    ...toolCalls.map(({ toolName, input, invalidInput, providerCallId = '' }) =>
      toolCall(providerCallId, toolName, invalidInput ?? JSON.stringify(input)),
    ),
    finish(toolCalls.length > 0 ? 'tool-calls' : 'stop', {
      usage: {
        inputTokens: { total: inputTokens, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: outputTokens, text: undefined, reasoning: undefined },
      },
    }),
  ] satisfies SdkStreamPart[]);
}

/** An answer of HTTP that refuses. */
function refusal(isRetryable: boolean): APICallError {
  const statusCode = isRetryable ? 503 : 401;
  return new APICallError({ message: 'refused', url: 'https://example.com', requestBodyValues: {}, statusCode });
}

function make(act: ProviderAct) {
  const provider = new MockLanguageModelV4({
    async doStream() {
      if (act.type === 'fails') throw refusal(act.isRetryable);
      return { stream: act.type === 'answers' ? streamOf(act.answer) : new ReadableStream<SdkStreamPart>() };
    },
  });
  return { model: aiSdk(provider), asked: () => provider.doStreamCalls };
}

contractTests(modelContract({ make }));
