import type { Json, TokenUsage, TurnPart } from '../../../machines/event-content.ts';
import type { ModelResponse, ModelToolCall } from '../model.contract.ts';
import type { Answer, AnswerPart } from './answer.ts';
import { checkFinish } from './check-finish.ts';
import { type PartOrigin, withOrigin } from './part-origin.ts';
import type { SdkStreamPartOf } from './sdk-types.ts';
import { type StoreFile, storedFile } from './stored-file.ts';

/** A whole answer as the runtime takes it. @throws MODEL_FAILED when the answer does not count. */
export async function toResponse(
  answer: Answer,
  { provider, storeFile, requestId }: { provider: string; storeFile?: StoreFile; requestId?: string },
): Promise<ModelResponse> {
  checkFinish(answer);
  const parts: TurnPart[] = [];
  const toolCalls: ModelToolCall[] = [];
  for (const [place, part] of answer.parts.entries()) {
    const origin: PartOrigin = { provider, place };
    if (part.type === 'tool-call' && part.providerExecuted !== true) toolCalls.push(toCall(part, origin));
    else parts.push(await toPart(part, origin, storeFile));
  }
  return {
    text: answer.parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    parts,
    toolCalls,
    usage: toUsage(answer.finish?.usage),
    finishReason: answer.finish?.finishReason.unified,
    providerRequestId: requestId ?? answer.responseId,
  };
}

function toCall(part: SdkStreamPartOf<'tool-call'>, origin: PartOrigin): ModelToolCall {
  const { toolName, toolCallId: providerCallId, input, providerMetadata } = part;
  const call = { toolName, providerCallId, providerMetadata: withOrigin(providerMetadata, origin) };
  try {
    // Many models write nothing at all for a tool that takes nothing.
    return { ...call, input: input.trim() === '' ? {} : (JSON.parse(input) as unknown) };
  } catch {
    return { ...call, input, invalidInput: input };
  }
}

async function toPart(part: AnswerPart, origin: PartOrigin, storeFile: StoreFile | undefined): Promise<TurnPart> {
  const providerMetadata = withOrigin(part.providerMetadata, origin);
  switch (part.type) {
    case 'text': {
      const { text, citations } = part;
      if (citations === undefined) return { type: 'text', text, providerMetadata };
      return { type: 'text', text, providerMetadata: withOrigin(part.providerMetadata, { ...origin, citations }) };
    }
    case 'reasoning':
      return { type: 'reasoning', text: part.text, providerMetadata };
    case 'source':
      return { ...(part as unknown as Extract<TurnPart, { type: 'source' }>), providerMetadata };
    case 'file':
    case 'reasoning-file':
      return { ...(await storedFile(part, storeFile)), providerMetadata };
    default:
      return { type: 'custom', part: opaque(part), providerMetadata };
  }
}

/** What only the provider understands (its own tools, its own kinds of content), in the form in which it takes it back. */
function opaque(part: SdkStreamPartOf<'tool-call' | 'tool-result' | 'custom'>): Json {
  if (part.type === 'custom') return { type: 'custom', kind: part.kind };
  const { type, toolCallId, toolName } = part;
  if (type === 'tool-call') return { type, toolCallId, toolName, input: jsonOr(part.input), providerExecuted: true };
  return { type, toolCallId, toolName, output: { type: 'json', value: part.result as Json } };
}

function jsonOr(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function toUsage(usage: SdkStreamPartOf<'finish'>['usage'] | undefined): TokenUsage {
  const input = usage?.inputTokens;
  const output = usage?.outputTokens;
  const counts = {
    inputTokens: input?.total,
    outputTokens: output?.total,
    totalTokens: input?.total === undefined || output?.total === undefined ? undefined : input.total + output.total,
    cacheReadTokens: input?.cacheRead,
    cacheWriteTokens: input?.cacheWrite,
    reasoningTokens: output?.reasoning,
  };
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined));
}
