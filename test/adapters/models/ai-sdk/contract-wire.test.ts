import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { describe } from 'vitest';
import { aiSdk } from '../../../../adapters/models/ai-sdk.ts';
import type { ModelToolCall } from '../../../../adapters/models/model.contract.ts';
import {
  type ModelUnderTest,
  modelContract,
  type ProviderAct,
  type ProviderAnswer,
} from '../../../../testing/contracts/model-contract.ts';
import { contractTests } from '../../../testing/contracts/contract-tests.ts';
import { anthropicBlocks, anthropicError, toolBlock } from './anthropic-wire.ts';
import { chatCall, chatChunk, openaiError } from './openai-wire.ts';
import { type SseReply, sseServer } from './sse-server.ts';

/** More requests than any case makes of one model. */
const MANY = 100;

const argumentsOf = ({ input, invalidInput }: ModelToolCall) => invalidInput ?? JSON.stringify(input);

async function over(
  act: ProviderAct,
  wire: { answer: (answer: ProviderAnswer) => SseReply; refusal: (isRetryable: boolean) => SseReply },
) {
  const hanging: SseReply = { ending: 'hang' };
  const reply =
    act.type === 'hangs' ? hanging : act.type === 'fails' ? wire.refusal(act.isRetryable) : wire.answer(act.answer);
  return await sseServer(...Array<SseReply>(MANY).fill(reply));
}

async function chat(act: ProviderAct): Promise<ModelUnderTest> {
  const server = await over(act, {
    refusal: (isRetryable) => openaiError(isRetryable ? 503 : 401, null, 'refused'),
    answer: ({ pieces, toolCalls, usage: { inputTokens, outputTokens } }) => {
      const usage = { prompt_tokens: inputTokens, completion_tokens: outputTokens };
      return {
        events: [
          ...pieces.map((content) => chatChunk({ content })),
          ...toolCalls.map((call, index) =>
            chatCall(index, { id: call.providerCallId ?? '', name: call.toolName, arguments: argumentsOf(call) }),
          ),
          chatChunk({}, toolCalls.length > 0 ? 'tool_calls' : 'stop'),
          { ...chatChunk({}), choices: [], usage },
          '[DONE]',
        ],
      };
    },
  });
  const openai = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'key' });
  return { model: aiSdk(openai.chat('gpt-x')), asked: () => server.requests };
}

async function messages(act: ProviderAct): Promise<ModelUnderTest> {
  const server = await over(act, {
    refusal: (isRetryable) => anthropicError(isRetryable ? 529 : 401, 'error', 'refused'),
    answer: ({ pieces, toolCalls, usage }) => {
      const text = {
        start: { type: 'text', text: '' },
        deltas: pieces.map((piece) => ({ type: 'text_delta', text: piece })),
      };
      const calls = toolCalls.map((call) => toolBlock(call.providerCallId ?? '', call.toolName, argumentsOf(call)));
      const stop_reason = toolCalls.length > 0 ? 'tool_use' : 'end_turn';
      const counts = { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens };
      const [start, ...rest] = anthropicBlocks(...(pieces.length > 0 ? [text] : []), ...calls) as [
        { message: object },
        ...object[],
      ];
      return {
        events: [
          { ...start, message: { ...start.message, usage: { ...counts, output_tokens: 1 } } },
          ...rest,
          { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: counts },
          { type: 'message_stop' },
        ],
      };
    },
  });
  const anthropic = createAnthropic({ baseURL: `${server.url}/v1`, apiKey: 'key' });
  return { model: aiSdk(anthropic('claude-x')), asked: () => server.requests };
}

describe('OpenAI Chat Completions over its wire', () => contractTests(modelContract({ make: chat })));
describe('Anthropic Messages over its wire', () => contractTests(modelContract({ make: messages })));
