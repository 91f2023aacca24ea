import type { SseReply } from './sse-server.ts';

/** A block of an answer of Anthropic's Messages, and its deltas. */
type Block = { start: object; deltas: object[] };

export const textBlock = (text: string): Block => ({
  start: { type: 'text', text: '' },
  deltas: [{ type: 'text_delta', text }],
});

export const thinkingBlock = (thinking: string, signature: string): Block => ({
  start: { type: 'thinking', thinking: '', signature: '' },
  deltas: [
    { type: 'thinking_delta', thinking },
    { type: 'signature_delta', signature },
  ],
});

export const redactedBlock = (data: string): Block => ({ start: { type: 'redacted_thinking', data }, deltas: [] });

export const toolBlock = (id: string, name: string, json: string): Block => ({
  start: { type: 'tool_use', id, name, input: {} },
  deltas: [...json].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
});

/** The beginning of a stream, up to the last delta of its blocks. */
export function anthropicBlocks(...blocks: Block[]): object[] {
  const usage = { input_tokens: 20, output_tokens: 1, cache_read_input_tokens: 5, cache_creation_input_tokens: 0 };
  const message = { id: 'msg_01', type: 'message', role: 'assistant', model: 'claude-x', content: [], usage };
  return [
    { type: 'message_start', message },
    { type: 'ping' },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
  ];
}

/** A whole stream. */
export function anthropicReply(stopReason: string, ...blocks: Block[]): SseReply {
  return {
    headers: { 'request-id': 'req_011' },
    events: [
      ...anthropicBlocks(...blocks),
      { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ],
  };
}

/** A refusal of the request. */
export function anthropicError(status: number, type: string, message: string, headers = {}): SseReply {
  return { status, headers, json: { type: 'error', error: { type, message } } };
}
