import { jsonSchema, tool } from 'ai';
import { MockLanguageModelV3, MockLanguageModelV4, MockProviderV4 } from 'ai/test';
import { describe, expect, test, vi } from 'vitest';
import { aiSdk } from '../../../../adapters/models/ai-sdk.ts';
import { requestOf, said } from '../../../../testing/contracts/model-requests.ts';
import { contextOf } from './history.ts';
import { askedOf, finish, mockModel, text, toolCall } from './mock-model.ts';

const request = requestOf([said('Hi')]);

describe('an answer', () => {
  test('holds text, reasoning, calls, usage, reason and id as the provider gave them', async () => {
    const model = mockModel([
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'resp_1', modelId: 'm' },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'H' },
      { type: 'reasoning-delta', id: 'r', delta: 'm.' },
      { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata: { anthropic: { signature: 'Eq+/==' } } },
      { type: 'reasoning-end', id: 'r' },
      toolCall('c1', 'lookup', '{"id":1}'),
      ...text('I look.'),
      toolCall('c2', 'lookup', ''),
      finish('tool-calls', { finishReason: { unified: 'tool-calls', raw: 'tool_use' } }),
    ]);
    const context = contextOf();
    const turnlock = (place: number) => ({ turnlock: { provider: 'mock-provider', place } });
    expect(await aiSdk(model).generate(request, context)).toEqual({
      text: 'I look.',
      parts: [
        { type: 'reasoning', text: 'Hm.', providerMetadata: { anthropic: { signature: 'Eq+/==' }, ...turnlock(0) } },
        { type: 'text', text: 'I look.', providerMetadata: turnlock(2) },
      ],
      toolCalls: [
        { toolName: 'lookup', providerCallId: 'c1', input: { id: 1 }, providerMetadata: turnlock(1) },
        { toolName: 'lookup', providerCallId: 'c2', input: {}, providerMetadata: turnlock(3) },
      ],
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15, cacheReadTokens: 3, reasoningTokens: 4 },
      finishReason: 'tool-calls',
      providerRequestId: 'resp_1',
    });
    expect(context.deltas).toEqual([
      { type: 'reasoning', text: 'H' },
      { type: 'reasoning', text: 'm.' },
      { type: 'text', text: 'I look.' },
    ]);
  });

  test('names the request id of the headers before that of the answer', async () => {
    const model = mockModel([{ type: 'response-metadata', id: 'msg_1' }, ...text('x'), finish('stop')], {
      headers: { 'request-id': 'req_1' },
    });
    expect(await aiSdk(model).generate(request, contextOf())).toMatchObject({ providerRequestId: 'req_1' });
  });

  test('keeps texts apart whose ids are used again, or that were never begun', async () => {
    const parts = [...text('a'), ...text('b'), { type: 'text-delta' as const, id: 'z', delta: 'c' }, finish('stop')];
    const { parts: stored, text: whole } = await aiSdk(mockModel(parts)).generate(request, contextOf());
    expect(stored).toMatchObject([{ text: 'a' }, { text: 'b' }, { text: 'c' }]);
    expect(whole).toBe('abc');
  });

  test('C38 keeps arguments that are no JSON as they came', async () => {
    const model = mockModel([toolCall('c1', 'lookup', '{"id": '), finish('tool-calls')]);
    const { toolCalls } = await aiSdk(model).generate(request, contextOf());
    expect(toolCalls).toMatchObject([{ toolName: 'lookup', input: '{"id": ', invalidInput: '{"id": ' }]);
  });

  test('C32 gives ids as they came, even when they are empty or shared', async () => {
    const calls = ['', 'a b', 'a b'].map((id) => toolCall(id, 'lookup', '{}'));
    const { toolCalls } = await aiSdk(mockModel([...calls, finish('tool-calls')])).generate(request, contextOf());
    expect(toolCalls?.map(({ providerCallId }) => providerCallId)).toEqual(['', 'a b', 'a b']);
  });

  test('may be empty', async () => {
    expect(await aiSdk(mockModel([finish('stop')])).generate(request, contextOf())).toMatchObject({
      text: '',
      parts: [],
      toolCalls: [],
    });
  });

  test('keeps sources and citations, and files by reference alone', async () => {
    const source = { type: 'source' as const, sourceType: 'url' as const, id: 's', url: 'https://a.example' };
    const model = mockModel([
      source,
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'x' },
      { type: 'text-end', id: '0', citations: [{ source, startIndex: 0, endIndex: 1 }] },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAEC' } },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://a.example/b.png') } },
      finish('stop'),
    ]);
    const { parts } = await aiSdk(model).generate(request, contextOf());
    expect(parts).toMatchObject([
      source,
      { type: 'text', text: 'x', providerMetadata: { turnlock: { citations: [{ endIndex: 1 }] } } },
      { type: 'file', mediaType: 'image/png', reference: expect.stringMatching(/^urn:sha256:ae4b3280e56e/) },
      { type: 'file', mediaType: 'image/png', reference: 'https://a.example/b.png' },
    ]);
    const kept: unknown[] = [];
    const storeFile = ({ content, mediaType }: { content: Uint8Array; mediaType: string }) => {
      kept.push([mediaType, ...content]);
      return 'files/1';
    };
    const { parts: stored } = await aiSdk(model, { storeFile }).generate(request, contextOf());
    expect(stored?.[2]).toMatchObject({ reference: 'files/1' });
    expect(kept).toEqual([['image/png', 0, 1, 2]]);
  });

  test('keeps what the provider ran itself in the form in which it takes it back; it is no call of ours', async () => {
    const model = mockModel([
      { type: 'tool-call', toolCallId: 's1', toolName: 'web_search', input: '{"q":"x"}', providerExecuted: true },
      { type: 'tool-result', toolCallId: 's1', toolName: 'web_search', result: { hits: 0 }, preliminary: true },
      { type: 'tool-result', toolCallId: 's1', toolName: 'web_search', result: { hits: 1 } },
      { type: 'custom', kind: 'mock.note', providerMetadata: { mock: { a: 1 } } },
      ...text('x'),
      finish('stop'),
    ]);
    const { parts, toolCalls } = await aiSdk(model).generate(request, contextOf());
    expect(toolCalls).toEqual([]);
    expect(parts?.map((part) => (part.type === 'custom' ? part.part : part.type))).toEqual([
      { type: 'tool-call', toolCallId: 's1', toolName: 'web_search', input: { q: 'x' }, providerExecuted: true },
      { type: 'tool-result', toolCallId: 's1', toolName: 'web_search', output: { type: 'json', value: { hits: 1 } } },
      { type: 'custom', kind: 'mock.note' },
      'text',
    ]);
  });
});

describe('a request', () => {
  const inputSchema = { type: 'object', properties: { id: { type: 'number' } } };
  const tools = [{ name: 'lookup', description: 'Looks up.', inputSchema }];

  test('holds the settings, the tools as JSON Schema, and the signal', async () => {
    const model = mockModel([...text('x'), finish('stop')]);
    const { signal } = new AbortController();
    const settings = {
      temperature: 0,
      maxOutputTokens: 99,
      headers: { 'x-team': 'a' },
      providerOptions: { mock: { a: 1 } },
    };
    await aiSdk(model, { ...settings, modelId: 'mine' }).generate({ ...request, tools }, contextOf(signal));
    expect(askedOf(model)).toEqual({
      ...settings,
      prompt: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      ],
      tools: [{ type: 'function', name: 'lookup', description: 'Looks up.', inputSchema }],
      abortSignal: signal,
    });
  });

  test('tells what the tools of the SDK say beyond ours, and marks the instructions', async () => {
    const model = mockModel([...text('x'), finish('stop')]);
    const lookup = tool({
      strict: true,
      inputExamples: [{ input: { id: 1 } }],
      providerOptions: { mock: { cache: true } },
      inputSchema: jsonSchema<{ id: number }>({ type: 'object' }),
      execute: async () => 1,
    });
    const bash = {
      type: 'provider' as const,
      id: 'mock.bash' as const,
      args: { a: 1 },
      isProviderExecuted: false as const,
    };
    const sdkTools = { lookup, bash: { ...bash, inputSchema: jsonSchema({ type: 'object' }), execute: async () => 1 } };
    const settings = { tools: sdkTools, instructionsOptions: { mock: { cache: true } } };
    const shown = [...tools, { name: 'bash', description: '', inputSchema: {} }];
    await aiSdk(model, settings).generate({ ...request, tools: shown }, contextOf());
    expect(askedOf(model).tools).toEqual([
      {
        type: 'function',
        name: 'lookup',
        description: 'Looks up.',
        inputSchema,
        strict: true,
        inputExamples: [{ input: { id: 1 } }],
        providerOptions: { mock: { cache: true } },
      },
      { type: 'provider', id: 'mock.bash', name: 'bash', args: { a: 1 } },
    ]);
    expect(askedOf(model).prompt[0]).toMatchObject({ role: 'system', providerOptions: { mock: { cache: true } } });
  });

  test('tells what the provider could not honour', async () => {
    const told: unknown[] = [];
    const warning = { type: 'unsupported' as const, feature: 'temperature' };
    const model = mockModel([{ type: 'stream-start', warnings: [warning] }, ...text('x'), finish('stop')]);
    await aiSdk(model, { onWarnings: (warnings) => told.push(...warnings) }).generate(request, contextOf());
    expect(told).toEqual([warning]);
  });

  test.each<[string, () => never | Promise<never>]>([
    [
      'at once',
      () => {
        throw new Error('no luck');
      },
    ],
    ['later', () => Promise.reject(new Error('no luck'))],
  ])('counts though whoever is told of warnings throws %s', async (_, onWarnings) => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const warning = { type: 'other' as const, message: 'x' };
    const model = mockModel([{ type: 'stream-start', warnings: [warning] }, ...text('x'), finish('stop')]);
    expect(await aiSdk(model, { onWarnings }).generate(request, contextOf())).toMatchObject({ text: 'x' });
    await vi.waitFor(() =>
      expect(emitWarning.mock.calls).toEqual([[expect.stringContaining('no luck'), { type: 'Turnlock' }]]),
    );
    emitWarning.mockRestore();
  });
});

describe('a model', () => {
  test.each([
    ['gpt-5', 'gpt-5'],
    ['m'.repeat(64), 'm'.repeat(64)],
    ['m'.repeat(65), `${'m'.repeat(55)}~676fc2b5`],
    ['', 'unnamed'],
  ])('%s is written as %s', (modelId, written) => {
    expect(aiSdk(mockModel([], { modelId })).modelId).toBe(written);
  });

  test('takes another id, if it has a length that is stored', () => {
    expect(aiSdk(mockModel([]), { modelId: 'fast' }).modelId).toBe('fast');
    expect(() => aiSdk(mockModel([]), { modelId: 'm'.repeat(65) })).toThrow(/modelId/);
    expect(() => aiSdk(mockModel([]), { modelId: '' })).toThrow(/modelId/);
  });

  test.each([
    undefined,
    null,
    7,
    {},
    { specificationVersion: 'v1', doStream: () => null },
    { specificationVersion: 'v4' },
    '',
  ])('is refused when it is none: %o', (found) => {
    expect(() => aiSdk(found as never)).toThrow(expect.objectContaining({ code: 'DEFINITION_INVALID' }));
  });

  test('may be the id of one of the default provider', async () => {
    const byId = mockModel([...text('by id'), finish('stop')], { modelId: 'maker/m' });
    globalThis.AI_SDK_DEFAULT_PROVIDER = new MockProviderV4({ languageModels: { 'maker/m': byId } });
    try {
      const model = aiSdk('maker/m');
      expect(model.modelId).toBe('maker/m');
      expect(await model.generate(request, contextOf())).toMatchObject({ text: 'by id' });
    } finally {
      globalThis.AI_SDK_DEFAULT_PROVIDER = undefined;
    }
  });

  test('may be of the SDK before: interfaces 2 and 3', async () => {
    const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
    const v2 = Object.assign(mockModel([]), {
      specificationVersion: 'v2' as const,
      doStream: async () => ({
        stream: ReadableStream.from([...text('two'), { type: 'finish', finishReason: 'stop', usage }] as never[]),
      }),
    });
    const v3 = new MockLanguageModelV3({
      doStream: async () => ({ stream: ReadableStream.from([...text('three'), finish('stop')] as never[]) }),
    });
    expect(await aiSdk(v2 as never).generate(request, contextOf())).toMatchObject({ text: 'two', usage });
    expect(await aiSdk(v3).generate(request, contextOf())).toMatchObject({ text: 'three' });
  });

  test('is asked once: attempts are the runtime’s', async () => {
    const model = new MockLanguageModelV4({
      doStream: () => Promise.reject(Object.assign(new Error('busy'), { statusCode: 503, isRetryable: true })),
    });
    await expect(aiSdk(model).generate(request, contextOf())).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      retryable: true,
    });
    expect(model.doStreamCalls).toHaveLength(1);
  });
});

test.each<[string, unknown]>([
  ['null', null],
  ['a text', 'x'],
  ['headers that are null', { headers: null }],
  ['a header that is no text', { headers: { authorization: 7 } }],
  ['tools that are null', { tools: null }],
  ['onWarnings that is no function', { onWarnings: 'x' }],
  ['storeFile that is no function', { storeFile: {} }],
])('settings are refused: %s', (_, settings) => {
  expect(() => aiSdk(mockModel([]), settings as never)).toThrow(
    expect.objectContaining({ code: 'DEFINITION_INVALID' }),
  );
});

test('a model without an id is refused', () => {
  const model = { specificationVersion: 'v4', provider: 'p', doStream: () => undefined };
  expect(() => aiSdk(model as never)).toThrow(
    expect.objectContaining({ code: 'DEFINITION_INVALID', message: expect.stringContaining('modelId') }),
  );
});
