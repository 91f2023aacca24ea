import { MockLanguageModelV4 } from 'ai/test';
import type { SdkCallOptions, SdkStreamPart, SdkStreamPartOf } from '../../../../adapters/models/ai-sdk/sdk-types.ts';

type Unified = SdkStreamPartOf<'finish'>['finishReason']['unified'];

/** The end of a stream. */
export function finish(unified: Unified, more: Partial<SdkStreamPartOf<'finish'>> = {}): SdkStreamPart {
  const usage = {
    inputTokens: { total: 10, noCache: 7, cacheRead: 3, cacheWrite: undefined },
    outputTokens: { total: 5, text: 1, reasoning: 4 },
  };
  return { type: 'finish', finishReason: { unified, raw: undefined }, usage, ...more };
}

/** A text, whole. */
export function text(delta: string, id = '0'): SdkStreamPart[] {
  return [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta },
    { type: 'text-end', id },
  ];
}

/** A call, whole. */
export function toolCall(toolCallId: string, toolName: string, input: string): SdkStreamPart {
  return { type: 'tool-call', toolCallId, toolName, input };
}

/** A model of the SDK's own test kit that streams these pieces. */
export function mockModel(
  parts: readonly SdkStreamPart[],
  more: { provider?: string; modelId?: string; headers?: Record<string, string> } = {},
): MockLanguageModelV4 {
  const { headers = {}, ...identity } = more;
  return new MockLanguageModelV4({
    ...identity,
    doStream: async () => ({ stream: ReadableStream.from([...parts]), response: { headers } }),
  });
}

/** What the model was asked, the first time. */
export function askedOf(model: MockLanguageModelV4): SdkCallOptions {
  return model.doStreamCalls[0] as SdkCallOptions;
}
