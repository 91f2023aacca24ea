import { createAnthropic } from '@ai-sdk/anthropic';
import { describe, expect, test } from 'vitest';
import { aiSdk } from '../../../../adapters/models/ai-sdk.ts';
import { requestOf, said } from '../../../../testing/contracts/model-requests.ts';
import {
  anthropicBlocks,
  anthropicError,
  anthropicReply,
  redactedBlock,
  textBlock,
  thinkingBlock,
  toolBlock,
} from './anthropic-wire.ts';
import { answered, contextOf, resultOf, storedParts } from './history.ts';
import { type SseReply, type SseServer, sseServer } from './sse-server.ts';

const SIGNATURE = `EqoBCkgIARABGAIiQL8/0+z//aZ9u+++${'x'.repeat(500)}==`;
const REDACTED = 'EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpPkNRj2YfWXGmKDxH4mPnZ5sQ7vB9+/==';
const request = requestOf([said('Refund order 42.')], {
  tools: [{ name: 'lookup', description: 'Looks up.', inputSchema: { type: 'object', properties: {} } }],
});

const outputSchema = { type: 'object', properties: { team: { type: 'string' } }, required: ['team'] };
const closedSchema = { ...outputSchema, additionalProperties: false };

async function on(...replies: SseReply[]) {
  const server = await sseServer(...replies);
  const anthropic = createAnthropic({ baseURL: `${server.url}/v1`, apiKey: 'sk-ant-hunter2-000000000000' });
  const thinking = { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } };
  return { server, model: aiSdk(anthropic('claude-x'), { providerOptions: thinking, maxOutputTokens: 4_096 }) };
}

function lastBody({ requests }: SseServer) {
  return requests.at(-1)?.body;
}

describe('Anthropic over its wire', () => {
  test('a plain answer, streamed', async () => {
    const { model, server } = await on(anthropicReply('end_turn', textBlock('It is done.')));
    const context = contextOf();
    expect(await model.generate(request, context)).toMatchObject({
      text: 'It is done.',
      toolCalls: [],
      finishReason: 'stop',
      providerRequestId: 'req_011',
      usage: { inputTokens: 25, outputTokens: 9, totalTokens: 34, cacheReadTokens: 5 },
    });
    expect(context.deltas).toEqual([{ type: 'text', text: 'It is done.' }]);
    expect(server.requests).toHaveLength(1);
    expect(lastBody(server)).toMatchObject({
      model: 'claude-x',
      stream: true,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Refund order 42.' }] }],
      tools: [{ name: 'lookup', description: 'Looks up.', input_schema: { type: 'object', properties: {} } }],
    });
  });

  test('thinking, its signature and what is redacted come back to the byte, in their order, between two calls', async () => {
    const { model, server } = await on(
      anthropicReply(
        'tool_use',
        thinkingBlock('First the order.', SIGNATURE),
        redactedBlock(REDACTED),
        textBlock('I look.'),
        toolBlock('toolu_01', 'lookup', '{"order":42}'),
        toolBlock('toolu_02', 'lookup', '{"order":43}'),
      ),
      anthropicReply('end_turn', textBlock('Done.')),
    );
    const response = await model.generate(request, contextOf());
    expect(response).toMatchObject({
      toolCalls: [
        { toolName: 'lookup', input: { order: 42 }, providerCallId: 'toolu_01' },
        { toolName: 'lookup', input: { order: 43 }, providerCallId: 'toolu_02' },
      ],
      finishReason: 'tool-calls',
    });
    const history = [
      said('Refund order 42.'),
      answered(...storedParts(response)),
      resultOf(0, '{"paid":true}'),
      resultOf(1, 'The outcome of this call is unknown', { outcome: 'unknown' }),
    ];
    await model.generate(requestOf(history), contextOf());
    const [, assistant, results] = lastBody(server).messages;
    expect(assistant.content).toEqual([
      { type: 'thinking', thinking: 'First the order.', signature: SIGNATURE },
      { type: 'redacted_thinking', data: REDACTED },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'toolu_01', name: 'lookup', input: { order: 42 } },
      { type: 'tool_use', id: 'toolu_02', name: 'lookup', input: { order: 43 } },
    ]);
    expect(results).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_01', content: '{"paid":true}' },
        { type: 'tool_result', tool_use_id: 'toolu_02', content: 'The outcome of this call is unknown' },
      ],
    });
  });

  test('a failed call is told as an error', async () => {
    const { model, server } = await on(
      anthropicReply('tool_use', toolBlock('toolu_01', 'lookup', '{}')),
      anthropicReply('end_turn'),
    );
    const response = await model.generate(request, contextOf());
    const turns = [
      said('Go'),
      answered(...storedParts(response)),
      resultOf(0, 'The call failed: no', { outcome: 'failed' }),
    ];
    expect(await model.generate(requestOf(turns), contextOf())).toMatchObject({ text: '' });
    expect(lastBody(server).messages[2].content).toMatchObject([{ is_error: true, content: 'The call failed: no' }]);
  });

  test('C38 arguments that are no JSON are told with their text', async () => {
    const { model } = await on(anthropicReply('tool_use', toolBlock('toolu_01', 'lookup', '{"order":')));
    const { toolCalls } = await model.generate(request, contextOf());
    expect(toolCalls).toMatchObject([{ invalidInput: '{"order":' }]);
  });

  test.each<[string, 'end' | 'break']>([
    ['breaks', 'break'],
    ['ends without its end', 'end'],
  ])('C30 a stream that %s after a call was seen: the call does not count', async (_, ending) => {
    const events = anthropicBlocks(toolBlock('toolu_01', 'lookup', '{"order":42}'));
    const { model } = await on({ events, ending });
    await expect(model.generate(request, contextOf())).rejects.toMatchObject({ code: 'MODEL_FAILED', retryable: true });
  });

  test('overload in the middle of the stream', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const { model } = await on({ events: [...anthropicBlocks(textBlock('I')), error] });
    await expect(model.generate(request, contextOf())).rejects.toMatchObject({
      retryable: true,
      details: { codes: ['overloaded_error'] },
    });
  });

  test.each<[string, SseReply, object]>([
    [
      '429',
      anthropicError(429, 'rate_limit_error', 'slow down', { 'retry-after': '17' }),
      { retryable: true, details: { statusCode: 429, retryAfterMs: 17_000 } },
    ],
    ['529', anthropicError(529, 'overloaded_error', 'Overloaded'), { retryable: true, details: { statusCode: 529 } }],
    [
      '500',
      anthropicError(500, 'api_error', 'Internal server error'),
      { retryable: true, details: { statusCode: 500 } },
    ],
    [
      '400',
      anthropicError(400, 'invalid_request_error', 'max_tokens: too large'),
      { retryable: false, details: { statusCode: 400 } },
    ],
    [
      '401',
      anthropicError(401, 'authentication_error', 'invalid x-api-key'),
      { retryable: false, hint: expect.stringContaining('key') },
    ],
    [
      '404',
      anthropicError(404, 'not_found_error', 'model: claude-x'),
      { retryable: false, hint: expect.stringContaining('model') },
    ],
    [
      'refusal',
      anthropicReply('refusal', textBlock('I')),
      { retryable: false, details: { finishReason: 'content-filter' } },
    ],
    [
      'overload as first event',
      { events: [{ type: 'error', error: { type: 'overloaded_error', message: 'x' } }] },
      { retryable: true },
    ],
  ])('%s', async (_, reply, expected) => {
    const { model, server } = await on(reply);
    const error = await model.generate(request, contextOf()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'MODEL_FAILED', ...expected });
    expect(server.requests).toHaveLength(1);
  });

  test('an agent with an output: the shape goes with the request', async () => {
    const { model, server } = await on(anthropicReply('end_turn', textBlock('{"team":"billing"}')));
    expect(await model.generate({ ...request, outputSchema }, contextOf())).toMatchObject({
      text: '{"team":"billing"}',
    });
    expect(lastBody(server).output_config).toEqual({ format: { type: 'json_schema', schema: closedSchema } });
  });

  test('an older model that answers by a call of a tool of the provider: that is the reply', async () => {
    const reply = anthropicReply('tool_use', toolBlock('toolu_01', 'json', '{"team":"billing"}'));
    const server = await sseServer(reply);
    const anthropic = createAnthropic({ baseURL: `${server.url}/v1`, apiKey: 'sk-ant-hunter2-000000000000' });
    const answer = await aiSdk(anthropic('claude-3-haiku-20240307')).generate(
      { ...request, outputSchema },
      contextOf(),
    );
    expect(answer).toMatchObject({ toolCalls: [], finishReason: 'stop', text: '{"team":"billing"}' });
    expect(lastBody(server).tools).toMatchObject([{ name: 'lookup' }, { name: 'json', input_schema: closedSchema }]);
  });

  test('an abort closes the connection', async () => {
    const { model, server } = await on({ events: anthropicBlocks(textBlock('I')), ending: 'hang' });
    const abort = new AbortController();
    const context = { ...contextOf(abort.signal), emit: () => abort.abort(new Error('enough')) };
    await expect(model.generate(request, context)).rejects.toThrow('enough');
    await server.closedByClient;
  });
});
