import type { SseReply } from './sse-server.ts';

/** A chunk of OpenAI's Chat Completions. */
export function chatChunk(delta: object, finishReason: string | null = null): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'gpt-x',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  };
}

/** A piece of a call in a chunk. */
export function chatCall(index: number, piece: { id?: string; name?: string; arguments: string }): object {
  const { id, name, arguments: text } = piece;
  const identity = id === undefined ? {} : { id, type: 'function' };
  return chatChunk({ tool_calls: [{ index, ...identity, function: { ...(name ? { name } : {}), arguments: text } }] });
}

/** A whole stream of Chat Completions. */
export function chatReply(finishReason: string, ...chunks: object[]): SseReply {
  const usage = {
    prompt_tokens: 12,
    completion_tokens: 4,
    total_tokens: 16,
    prompt_tokens_details: { cached_tokens: 2 },
  };
  return {
    headers: { 'x-request-id': 'req_chat' },
    events: [...chunks, chatChunk({}, finishReason), { ...chatChunk({}), choices: [], usage }, '[DONE]'],
  };
}

/** A refusal of the request. */
export function openaiError(status: number, code: string | null, message: string, headers = {}): SseReply {
  return { status, headers, json: { error: { message, type: 'error', param: null, code } } };
}

/** An item of OpenAI's Responses: its first and its last form, and the events between. */
interface Item {
  added: object;
  between?: (position: { item_id: string; output_index: number }) => object[];
  done: object;
}

export const reasoningItem = (id: string, summary: string, encrypted: string): Item => ({
  added: { type: 'reasoning', id, summary: [], encrypted_content: 'early' },
  between: (at) => [
    {
      type: 'response.reasoning_summary_part.added',
      ...at,
      summary_index: 0,
      part: { type: 'summary_text', text: '' },
    },
    { type: 'response.reasoning_summary_text.delta', ...at, summary_index: 0, delta: summary },
    {
      type: 'response.reasoning_summary_part.done',
      ...at,
      summary_index: 0,
      part: { type: 'summary_text', text: summary },
    },
  ],
  done: { type: 'reasoning', id, summary: [{ type: 'summary_text', text: summary }], encrypted_content: encrypted },
});

export const callItem = (id: string, callId: string, name: string, json: string): Item => {
  const item = { type: 'function_call', id, call_id: callId, name };
  return {
    added: { ...item, arguments: '', status: 'in_progress' },
    between: (at) => [
      { type: 'response.function_call_arguments.delta', ...at, delta: json },
      { type: 'response.function_call_arguments.done', ...at, arguments: json },
    ],
    done: { ...item, arguments: json, status: 'completed' },
  };
};

export const messageItem = (id: string, text: string): Item => {
  const item = { type: 'message', id, role: 'assistant' };
  return {
    added: { ...item, status: 'in_progress', content: [] },
    between: (at) => [{ type: 'response.output_text.delta', ...at, content_index: 0, delta: text }],
    done: { ...item, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] },
  };
};

/** The beginning of a stream of Responses, up to the end of its items. */
export function responseItems(...items: Item[]): object[] {
  const response = { id: 'resp_1', object: 'response', created_at: 1_700_000_000, model: 'gpt-x', output: [] };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress' } },
    ...items.flatMap(({ added, between, done }, output_index) => [
      { type: 'response.output_item.added', output_index, item: added },
      ...(between?.({ item_id: (added as { id: string }).id, output_index }) ?? []),
      { type: 'response.output_item.done', output_index, item: done },
    ]),
  ];
}

/** A whole stream of Responses. */
export function responsesReply(...items: Item[]): SseReply {
  const usage = {
    input_tokens: 30,
    input_tokens_details: { cached_tokens: 10 },
    output_tokens: 8,
    output_tokens_details: { reasoning_tokens: 6 },
    total_tokens: 38,
  };
  const response = { id: 'resp_1', created_at: 1_700_000_000, model: 'gpt-x', incomplete_details: null, usage };
  return {
    headers: { 'x-request-id': 'req_resp' },
    events: [...responseItems(...items), { type: 'response.completed', response }],
  };
}
