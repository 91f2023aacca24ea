import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { createOpenAI } from '@ai-sdk/openai';
import type { EmbeddingModel } from 'ai';
import { APICallError } from 'ai';
import { MockEmbeddingModelV3, MockEmbeddingModelV4 } from 'ai/test';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { AiSdkEmbedderSettings } from '../../../adapters/embedders/ai-sdk-embedder-settings.ts';
import { aiSdkEmbedder } from '../../../adapters/models/ai-sdk.ts';
import { embedderContract } from '../../../testing/contracts/embedder-contract.ts';
import { contractTests } from '../../testing/contracts/contract-tests.ts';
import { type SseReply, sseServer } from '../models/ai-sdk/sse-server.ts';

const DIMENSIONS = 8;
const context = { signal: new AbortController().signal, purpose: 'document' } as const;

type Embedding = NonNullable<ConstructorParameters<typeof MockEmbeddingModelV4>[0]>;

afterEach(() => vi.restoreAllMocks());

function mock(more: Partial<Embedding> = {}) {
  return new MockEmbeddingModelV4({
    modelId: 'embed-1',
    provider: 'maker',
    maxEmbeddingsPerCall: 100,
    doEmbed: async ({ values }) => ({ embeddings: values.map(vectorOf), warnings: [] }),
    ...more,
  });
}

function vectorOf(text: string): number[] {
  return [...createHash('sha256').update(text).digest().subarray(0, DIMENSIONS)].map((byte) => byte + 1);
}

describe('an embedding model of the SDK', () => {
  contractTests(embedderContract({ make: () => aiSdkEmbedder(mock(), { dimensions: DIMENSIONS }) }));
});

describe('one that takes few texts at once', () => {
  const few = () => mock({ maxEmbeddingsPerCall: 2, supportsParallelCalls: true });
  contractTests(embedderContract({ make: () => aiSdkEmbedder(few(), { dimensions: DIMENSIONS }) }));

  test('is asked several times, one after the other, each within its bound', async () => {
    let open = 0;
    const model = mock({
      maxEmbeddingsPerCall: 2,
      supportsParallelCalls: true,
      doEmbed: async ({ values }) => {
        open += 1;
        expect(open).toBe(1);
        await Promise.resolve();
        open -= 1;
        return { embeddings: values.map(vectorOf), warnings: [] };
      },
    });
    const texts = ['a', 'b', 'c', 'd', 'e'];
    const embeddings = await aiSdkEmbedder(model, { dimensions: DIMENSIONS }).embed(texts, context);
    expect(embeddings).toEqual(texts.map(vectorOf));
    expect(model.doEmbedCalls.map(({ values }) => values)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  });
});

describe('one made for an older version of the SDK', () => {
  const older = () =>
    new MockEmbeddingModelV3({
      maxEmbeddingsPerCall: 100,
      doEmbed: async ({ values }) => ({ embeddings: values.map(vectorOf), warnings: [] }),
    });
  contractTests(embedderContract({ make: () => aiSdkEmbedder(older(), { dimensions: DIMENSIONS }) }));
});

describe('what the model is asked', () => {
  test('the dimensions, unless it has one size only', async () => {
    const model = mock();
    await aiSdkEmbedder(model, { dimensions: DIMENSIONS }).embed(['a'], context);
    await aiSdkEmbedder(model, { dimensions: DIMENSIONS, asksForDimensions: false }).embed(['a'], context);
    expect(model.doEmbedCalls.map(({ dimensions }) => dimensions)).toEqual([DIMENSIONS, undefined]);
  });

  test('options and headers, the same for every call or by what it is for', async () => {
    const model = mock();
    const fixed = { maker: { user: 'u' } };
    await aiSdkEmbedder(model, { dimensions: DIMENSIONS, providerOptions: fixed, headers: { 'x-team': 'a' } }).embed(
      ['a'],
      context,
    );
    const embedder = aiSdkEmbedder(model, {
      dimensions: DIMENSIONS,
      providerOptions: (purpose) => ({ maker: { inputType: purpose } }),
    });
    await embedder.embed(['a'], context);
    await embedder.embed(['a'], { ...context, purpose: 'query' });
    expect(model.doEmbedCalls.map(({ providerOptions }) => providerOptions)).toEqual([
      fixed,
      { maker: { inputType: 'document' } },
      { maker: { inputType: 'query' } },
    ]);
    expect(model.doEmbedCalls[0]?.headers).toMatchObject({ 'x-team': 'a' });
  });

  test('nothing, for no text', async () => {
    const model = mock();
    expect(await aiSdkEmbedder(model, { dimensions: DIMENSIONS }).embed([], context)).toEqual([]);
    expect(model.doEmbedCalls).toEqual([]);
  });
});

test('its name is the provider’s, cut where it is too long, or the one given', () => {
  const named = (modelId: string, given?: string) =>
    aiSdkEmbedder(mock({ modelId }), { dimensions: 8, ...(given === undefined ? {} : { modelId: given }) }).modelId;
  expect(named('embed-1')).toBe('embed-1');
  expect(named('embed-1', 'mine')).toBe('mine');
  expect(named('m'.repeat(80))).toMatch(/^m{55}~[0-9a-f]{8}$/);
  expect(() => named('embed-1', '')).toThrow(expect.objectContaining({ code: 'DEFINITION_INVALID' }));
});

test('a batch is 96 texts, or as many as is said', () => {
  expect(aiSdkEmbedder(mock(), { dimensions: 8 }).maxBatch).toBe(96);
  expect(aiSdkEmbedder(mock(), { dimensions: 8, maxBatch: 10 }).maxBatch).toBe(10);
});

test('warnings go to the application and not to the console', async () => {
  const printed = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const seen: unknown[] = [];
  const warnings = [{ type: 'unsupported' as const, feature: 'dimensions' }];
  const model = mock({ doEmbed: async ({ values }) => ({ embeddings: values.map(vectorOf), warnings }) });
  const onWarnings = (given: readonly unknown[]) => void seen.push(...given);
  await aiSdkEmbedder(model, { dimensions: DIMENSIONS, onWarnings }).embed(['a'], context);
  await aiSdkEmbedder(model, { dimensions: DIMENSIONS }).embed(['a'], context);
  expect(seen).toEqual(warnings);
  expect(printed).not.toHaveBeenCalled();
});

describe('what goes wrong', () => {
  test('is not tried again here', async () => {
    const doEmbed = vi.fn(async () => {
      throw new APICallError({ message: 'busy', url: 'https://api.example', requestBodyValues: {}, statusCode: 503 });
    });
    const call = aiSdkEmbedder(mock({ doEmbed }), { dimensions: DIMENSIONS }).embed(['a'], context);
    await expect(call).rejects.toMatchObject({ code: 'EMBEDDING_FAILED', retryable: true });
    expect(doEmbed).toHaveBeenCalledTimes(1);
  });

  test('other vectors than were promised', async () => {
    const call = aiSdkEmbedder(mock(), { dimensions: 9 }).embed(['a'], context);
    await expect(call).rejects.toMatchObject({ code: 'EMBEDDING_FAILED', retryable: false });
  });

  test('an answer to a call that was given up: the reason of the signal', async () => {
    const controller = new AbortController();
    const doEmbed = async () => {
      controller.abort(new Error('nobody waits'));
      throw new Error('aborted by the client');
    };
    const { signal } = controller;
    const call = aiSdkEmbedder(mock({ doEmbed }), { dimensions: DIMENSIONS }).embed(['a'], { ...context, signal });
    await expect(call).rejects.toThrow('nobody waits');
  });

  test('an error of a function of the application', async () => {
    const providerOptions = () => {
      throw new Error('no such purpose');
    };
    const call = aiSdkEmbedder(mock(), { dimensions: DIMENSIONS, providerOptions }).embed(['a'], context);
    await expect(call).rejects.toMatchObject({ code: 'EMBEDDING_FAILED' });
  });
});

describe('OpenAI over its wire', () => {
  async function on(...replies: SseReply[]) {
    const server = await sseServer(...replies);
    const openai = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'sk-hunter2-0000000000' });
    const headers = { 'x-gateway-key': 'hunter2-of-the-gateway' };
    const embedder = aiSdkEmbedder(openai.embeddingModel('text-embedding-3-small'), { dimensions: 2, headers });
    return { server, embedder };
  }

  test('the request, and the vectors in the order of the texts', async () => {
    const data = [
      { object: 'embedding', index: 0, embedding: [3, 4] },
      { object: 'embedding', index: 1, embedding: [0, 1] },
    ];
    const { server, embedder } = await on({
      json: { object: 'list', data, usage: { prompt_tokens: 2, total_tokens: 2 } },
    });
    expect(await embedder.embed(['one', 'two'], context)).toEqual([
      [3, 4],
      [0, 1],
    ]);
    expect(server.requests).toMatchObject([
      {
        path: '/v1/embeddings',
        body: { model: 'text-embedding-3-small', input: ['one', 'two'], dimensions: 2 },
        headers: { 'x-gateway-key': 'hunter2-of-the-gateway' },
      },
    ]);
  });

  test.each<[number, string | null, boolean]>([
    [429, 'rate_limit_exceeded', true],
    [500, null, true],
    [429, 'insufficient_quota', false],
    [400, 'context_length_exceeded', false],
    [401, 'invalid_api_key', false],
  ])('HTTP %i, %s: another attempt helps: %s', async (status, code, retryable) => {
    const error = { message: 'no: sk-hunter2-0000000000, hunter2-of-the-gateway', type: 'error', param: null, code };
    const { server, embedder } = await on({ status, headers: { 'retry-after': '3' }, json: { error } });
    const thrown = await embedder.embed(['one'], context).catch((found: unknown) => found);
    expect(thrown).toMatchObject({
      code: 'EMBEDDING_FAILED',
      retryable,
      message: expect.stringMatching(/^embedding call failed: text-embedding-3-small \(found HTTP \d+/),
      details: { provider: 'openai.embedding', statusCode: status, retryAfterMs: 3_000 },
    });
    expect(inspect(thrown, { depth: 9, showHidden: true })).not.toContain('hunter2');
    expect((thrown as Error).message).not.toContain('session');
    expect((thrown as { hint: string }).hint).not.toContain('session.retry');
    expect(server.requests).toHaveLength(1);
  });
});

describe('what is refused at once', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['no id', ''],
    ['an object', {}],
    ['a version that is not read', { ...mock(), specificationVersion: 'v1', doEmbed: () => undefined }],
    ['a model of another kind', { specificationVersion: 'v4', modelId: 'm', provider: 'p', doStream: () => undefined }],
  ])('as a model: %s', (_, model) => {
    expect(() => aiSdkEmbedder(model as EmbeddingModel, { dimensions: 8 })).toThrow(
      expect.objectContaining({ code: 'DEFINITION_INVALID' }),
    );
  });

  test.each<[string, unknown]>([
    ['settings', undefined],
    ['dimensions', {}],
    ['dimensions', { dimensions: 0 }],
    ['dimensions', { dimensions: 2_001 }],
    ['asksForDimensions', { dimensions: 8, asksForDimensions: 'no' }],
    ['maxBatch', { dimensions: 8, maxBatch: 0.5 }],
    ['providerOptions', { dimensions: 8, providerOptions: 'fast' }],
    ['headers', { dimensions: 8, headers: { authorization: 7 } }],
    ['onWarnings', { dimensions: 8, onWarnings: true }],
  ])('as settings, for its %s: %o', (option, settings) => {
    expect(() => aiSdkEmbedder(mock(), settings as AiSdkEmbedderSettings)).toThrow(
      expect.objectContaining({ code: 'DEFINITION_INVALID', message: expect.stringContaining(`: ${option} of`) }),
    );
  });

  test('a text is an id of the default provider', async () => {
    const model = mock();
    vi.stubGlobal('AI_SDK_DEFAULT_PROVIDER', { specificationVersion: 'v4', embeddingModel: () => model });
    const embedder = aiSdkEmbedder('maker/embed-1', { dimensions: DIMENSIONS });
    vi.unstubAllGlobals();
    expect(await embedder.embed(['a'], context)).toEqual([vectorOf('a')]);
  });
});
