import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { createOpenAI } from '@ai-sdk/openai';
import { describe, expect, test } from 'vitest';
import { aiSdk } from '../../../../adapters/models/ai-sdk.ts';
import { requestOf, said } from '../../../../testing/contracts/model-requests.ts';
import { answered, contextOf, resultOf, storedParts } from './history.ts';
import {
  callItem,
  chatCall,
  chatChunk,
  chatReply,
  messageItem,
  openaiError,
  reasoningItem,
  responseItems,
  responsesReply,
} from './openai-wire.ts';
import { type SseReply, sseServer } from './sse-server.ts';

const request = requestOf([said('Refund order 42.')], {
  tools: [{ name: 'lookup', description: 'Looks up.', inputSchema: { type: 'object', properties: {} } }],
});

async function on(interfaceOf: 'chat' | 'responses', ...replies: SseReply[]) {
  const server = await sseServer(...replies);
  const openai = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'sk-hunter2-0000000000' });
  const providerOptions = { openai: { store: false, include: ['reasoning.encrypted_content'] } };
  const model = aiSdk(openai[interfaceOf]('gpt-5-x'), interfaceOf === 'responses' ? { providerOptions } : {});
  return { server, model };
}

describe('OpenAI Chat Completions over its wire', () => {
  test('a plain answer, streamed', async () => {
    const { model, server } = await on(
      'chat',
      chatReply('stop', chatChunk({ content: 'It is ' }), chatChunk({ content: 'done.' })),
    );
    const context = contextOf();
    expect(await model.generate(request, context)).toMatchObject({
      text: 'It is done.',
      toolCalls: [],
      finishReason: 'stop',
      providerRequestId: 'req_chat',
      usage: { inputTokens: 12, outputTokens: 4, totalTokens: 16, cacheReadTokens: 2 },
    });
    expect(context.deltas.map((delta) => delta.text)).toEqual(['It is ', 'done.']);
    const [{ path, body }] = server.requests as [(typeof server.requests)[0]];
    expect(path).toBe('/v1/chat/completions');
    expect(body.tools).toEqual([
      {
        type: 'function',
        function: { name: 'lookup', description: 'Looks up.', parameters: { type: 'object', properties: {} } },
      },
    ]);
  });

  test('an agent with an output: the shape goes with the request', async () => {
    const outputSchema = { type: 'object', properties: { team: { type: 'string' } }, required: ['team'] };
    const { model, server } = await on('chat', chatReply('stop', chatChunk({ content: '{"team":"billing"}' })));
    const answer = await model.generate({ ...request, outputSchema }, contextOf());
    expect(answer).toMatchObject({ text: '{"team":"billing"}', toolCalls: [] });
    const [{ body }] = server.requests as [(typeof server.requests)[0]];
    expect(body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { strict: true, schema: { ...outputSchema, additionalProperties: false } },
    });
  });

  test('C32 parallel calls that share an id, which repeats in the next turn: each result finds its call', async () => {
    const two = () =>
      chatReply(
        'tool_calls',
        chatCall(0, { id: 'call_0', name: 'lookup', arguments: '{"order"' }),
        chatCall(0, { arguments: ':42}' }),
        chatCall(1, { id: 'call_0', name: 'lookup', arguments: '{"order":43}' }),
      );
    const { model, server } = await on('chat', two(), two(), chatReply('stop', chatChunk({ content: 'Done.' })));
    const first = await model.generate(request, contextOf());
    expect(first.toolCalls?.map(({ input }) => input)).toEqual([{ order: 42 }, { order: 43 }]);
    const turns = [said('Go'), answered(...storedParts(first)), resultOf(0, 'a'), resultOf(1, 'b')];
    const second = await model.generate(requestOf(turns), contextOf());
    turns.push(answered(...storedParts(second)), resultOf(0, 'c'), resultOf(1, 'd'));
    await model.generate(requestOf(turns), contextOf());
    const { messages } = server.requests[2]!.body as {
      messages: { tool_calls?: { id: string }[]; tool_call_id?: string }[];
    };
    const calls = messages.flatMap(({ tool_calls: asked = [] }) => asked.map(({ id }) => id));
    expect(new Set(calls).size).toBe(4);
    expect(messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]))).toEqual(calls);
  });

  test('C38 arguments that are no JSON', async () => {
    const { model } = await on(
      'chat',
      chatReply('tool_calls', chatCall(0, { id: 'c', name: 'lookup', arguments: '{"order":' })),
    );
    expect(await model.generate(request, contextOf())).toMatchObject({
      toolCalls: [{ toolName: 'lookup', providerCallId: 'c', invalidInput: '{"order":' }],
    });
  });

  test.each<[string, 'end' | 'break']>([
    ['breaks', 'break'],
    ['ends without its end', 'end'],
  ])('C30 a stream that %s after a call was seen: the call does not count', async (_, ending) => {
    const events = [chatCall(0, { id: 'c', name: 'lookup', arguments: '{"order":42}' })];
    const { model } = await on('chat', { events, ending });
    await expect(model.generate(request, contextOf())).rejects.toMatchObject({ code: 'MODEL_FAILED', retryable: true });
  });

  test.each<[string, SseReply, object]>([
    [
      '429',
      openaiError(429, 'rate_limit_exceeded', 'slow down', { 'retry-after': '20', 'retry-after-ms': '1500' }),
      { retryable: true, details: { retryAfterMs: 1_500 } },
    ],
    [
      '429 of an account that is used up',
      openaiError(429, 'insufficient_quota', 'You exceeded your quota'),
      { retryable: false },
    ],
    ['500', openaiError(500, null, 'The server had an error'), { retryable: true }],
    [
      '401',
      openaiError(401, 'invalid_api_key', 'Incorrect API key provided: sk-hunter2-0000000000'),
      { retryable: false },
    ],
    ['400', openaiError(400, 'context_length_exceeded', 'maximum context length is 8192 tokens'), { retryable: false }],
    ['content filter', chatReply('content_filter', chatChunk({ content: 'I' })), { retryable: false }],
    ['a page instead of an answer', { status: 502, json: '<html>' }, { retryable: true }],
    [
      'an error in the stream',
      { events: [chatChunk({ content: 'I' }), { error: { message: 'x', type: 'server_error' } }] },
      { retryable: true },
    ],
    ['a piece that is no JSON', { events: [chatChunk({ content: 'I' }), '{"id":'] }, { retryable: true }],
    ['nothing', { events: ['[DONE]'] }, { retryable: true }],
  ])('%s', async (_, reply, expected) => {
    const { model, server } = await on('chat', reply);
    const error = await model.generate(request, contextOf()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'MODEL_FAILED', ...expected });
    expect(String((error as Error).message) + (error as Error).stack).not.toContain('hunter2');
    expect(server.requests).toHaveLength(1);
  });

  test('a server that is not there', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    await once(gone.close(), 'close');
    const model = aiSdk(createOpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'x' }).chat('gpt-x'));
    await expect(model.generate(request, contextOf())).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      retryable: true,
      details: { networkCode: 'ECONNREFUSED' },
    });
  });

  test('an abort before the first byte closes the connection', async () => {
    const { model, server } = await on('chat', { ending: 'hang' });
    const abort = new AbortController();
    const answer = model.generate(request, contextOf(abort.signal));
    const seen = expect(answer).rejects.toThrow('late');
    await expect.poll(() => server.requests.length).toBe(1);
    abort.abort(new Error('late'));
    await seen;
    await server.closedByClient;
  });
});

describe('OpenAI Responses over its wire', () => {
  const ENCRYPTED = `gAAAAABo${'Zm9v/+'.repeat(80)}==`;

  test('reasoning, its encrypted content and the order of its calls come back to the byte', async () => {
    const { model, server } = await on(
      'responses',
      responsesReply(
        reasoningItem('rs_1', 'First the order.', ENCRYPTED),
        callItem('fc_1', 'call_1', 'lookup', '{"order":42}'),
        reasoningItem('rs_2', 'Then the other.', `2${ENCRYPTED}`),
        callItem('fc_2', 'call_2', 'lookup', '{"order":43}'),
      ),
      responsesReply(messageItem('msg_1', 'Done.')),
    );
    const context = contextOf();
    const response = await model.generate(request, context);
    expect(response).toMatchObject({
      finishReason: 'tool-calls',
      providerRequestId: 'req_resp',
      usage: { inputTokens: 30, outputTokens: 8, reasoningTokens: 6, cacheReadTokens: 10 },
      toolCalls: [{ providerCallId: 'call_1' }, { providerCallId: 'call_2' }],
    });
    expect(context.deltas).toContainEqual({ type: 'reasoning', text: 'First the order.' });
    const turns = [said('Go'), answered(...storedParts(response)), resultOf(0, '{"paid":true}'), resultOf(1, 'b')];
    expect(await model.generate(requestOf(turns), contextOf())).toMatchObject({ text: 'Done.' });
    expect(server.requests[0]?.path).toBe('/v1/responses');
    expect(server.requests[1]?.body.input.slice(2)).toMatchObject([
      { type: 'reasoning', id: 'rs_1', encrypted_content: ENCRYPTED, summary: [{ text: 'First the order.' }] },
      { type: 'function_call', call_id: 'call_1', arguments: '{"order":42}' },
      { type: 'reasoning', id: 'rs_2', encrypted_content: `2${ENCRYPTED}`, summary: [{ text: 'Then the other.' }] },
      { type: 'function_call', call_id: 'call_2', arguments: '{"order":43}' },
      { type: 'function_call_output', call_id: 'call_1', output: '{"paid":true}' },
      { type: 'function_call_output', call_id: 'call_2', output: 'b' },
    ]);
  });

  test('a history of its own goes to Chat Completions without what only Responses reads', async () => {
    const { model } = await on(
      'responses',
      responsesReply(reasoningItem('rs_1', 'Hm.', ENCRYPTED), callItem('fc_1', 'call_1', 'lookup', '{}')),
    );
    const response = await model.generate(request, contextOf());
    const { model: chat, server } = await on('chat', chatReply('stop', chatChunk({ content: 'Done.' })));
    await chat.generate(requestOf([said('Go'), answered(...storedParts(response)), resultOf(0, 'a')]), contextOf());
    expect(server.requests[0]?.body.messages.slice(2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'a' },
    ]);
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain('gAAAAABo');
  });

  test.each<[string, SseReply['ending']]>([
    ['breaks', 'break'],
    ['ends without its end', 'end'],
  ])('C30 a stream that %s after a call was seen: the call does not count', async (_, ending) => {
    const events = responseItems(callItem('fc_1', 'call_1', 'lookup', '{"order":42}'));
    const { model } = await on('responses', { events, ...(ending ? { ending } : {}) });
    await expect(model.generate(request, contextOf())).rejects.toMatchObject({ code: 'MODEL_FAILED', retryable: true });
  });

  test.each<[string, object, object]>([
    [
      'fails',
      { type: 'response.failed', response: { error: { code: 'server_error', message: 'x' } } },
      { retryable: true },
    ],
    [
      'is stopped by the filter',
      { type: 'response.incomplete', response: { incomplete_details: { reason: 'content_filter' } } },
      { retryable: false },
    ],
    [
      'is cut',
      { type: 'response.incomplete', response: { incomplete_details: { reason: 'max_output_tokens' } } },
      { retryable: false },
    ],
  ])('a response that %s', async (_, event, expected) => {
    const events = [...responseItems(callItem('fc_1', 'call_1', 'lookup', '{}')), event];
    const { model } = await on('responses', { events });
    await expect(model.generate(request, contextOf())).rejects.toMatchObject({ code: 'MODEL_FAILED', ...expected });
  });
});
