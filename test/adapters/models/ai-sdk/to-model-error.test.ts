import { inspect } from 'node:util';
import {
  APICallError,
  InvalidPromptError,
  LoadAPIKeyError,
  NoSuchModelError,
  StreamProviderError,
  UnsupportedFunctionalityError,
} from 'ai';
import { describe, expect, test } from 'vitest';
import { toModelError } from '../../../../adapters/models/ai-sdk/to-model-error.ts';
import { TurnlockError } from '../../../../errors.ts';

const model = { modelId: 'm', provider: 'openai', secrets: ['hunter2-header', 'Bearer tok_hunter2'] };

function apiError(statusCode: number | undefined, more: Partial<ConstructorParameters<typeof APICallError>[0]> = {}) {
  const given = { message: 'no', url: 'https://api.example/v1?key=hunter2', requestBodyValues: { prompt: 'hunter2' } };
  return new APICallError({ ...given, ...more, ...(statusCode === undefined ? {} : { statusCode }) });
}

function mapped(thrown: unknown): TurnlockError {
  return toModelError(thrown, model);
}

describe('another attempt may help', () => {
  test.each([408, 409, 425, 429, 500, 502, 503, 504, 529])('after HTTP %i', (status) => {
    expect(mapped(apiError(status))).toMatchObject({
      code: 'MODEL_FAILED',
      retryable: true,
      details: { statusCode: status },
    });
  });

  test.each<[string, unknown]>([
    [
      'a connection that failed',
      apiError(undefined, { isRetryable: true, cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }),
    ],
    ['a connection that broke', Object.assign(new TypeError('terminated'), { cause: { code: 'UND_ERR_SOCKET' } })],
    ['a time-out of the client', new DOMException('late', 'TimeoutError')],
    ['an answer that cannot be read', apiError(200, { message: 'Invalid JSON response', isRetryable: false })],
    ['an error of a stream', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
    ['a failed response', { type: 'response.failed', response: { error: { code: 'server_error', message: 'x' } } }],
    ['an error that the SDK made of one', new StreamProviderError({ message: 'x', statusCode: 529 })],
    ['something nobody knows', new Error('hm')],
    ['a text', 'boom'],
    ['nothing', undefined],
  ])('after %s', (_, thrown) => {
    expect(mapped(thrown)).toMatchObject({ code: 'MODEL_FAILED', retryable: true });
  });
});

describe('no attempt helps', () => {
  test.each([400, 401, 402, 403, 404, 413, 422])('after HTTP %i', (status) => {
    expect(mapped(apiError(status))).toMatchObject({ code: 'MODEL_FAILED', retryable: false });
  });

  test.each<[string, unknown]>([
    [
      'an account that is used up, though it comes as 429',
      apiError(429, { data: { error: { code: 'insufficient_quota' } } }),
    ],
    ['a prompt that the filter refuses', { type: 'error', error: { code: 'content_filter', message: 'x' } }],
    ['a request that is too long, told in the stream', { error: { type: 'invalid_request_error', message: 'x' } }],
    ['an invalid prompt', new InvalidPromptError({ prompt: 'x', message: 'no' })],
    ['a missing key', new LoadAPIKeyError({ message: 'OpenAI API key is missing.' })],
    ['a model that does not exist', new NoSuchModelError({ modelId: 'x', modelType: 'languageModel' })],
    ['what the provider cannot do', new UnsupportedFunctionalityError({ functionality: 'x' })],
  ])('after %s', (_, thrown) => {
    expect(mapped(thrown)).toMatchObject({ code: 'MODEL_FAILED', retryable: false });
  });
});

test('an error of ours stays what it is', () => {
  const ours = new TurnlockError('MODEL_FAILED', { message: 'no' });
  expect(mapped(ours)).toBe(ours);
});

test('says what a person needs', () => {
  const error = mapped(
    apiError(529, {
      message: 'Overloaded',
      responseHeaders: { 'request-id': 'req_1', 'retry-after': '3' },
      data: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    }),
  );
  expect(error.message).toBe('model call failed: m (found HTTP 529, overloaded_error: Overloaded).');
  expect(error.details).toEqual({
    provider: 'openai',
    modelId: 'm',
    codes: ['overloaded_error'],
    statusCode: 529,
    requestId: 'req_1',
    retryAfterMs: 3_000,
  });
});

describe('the pause that a provider asks for', () => {
  const date = 'Wed, 21 Oct 2026 07:28:00 GMT';
  test.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT', date }, 30_000],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:27:30 GMT', date }, 0],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-1', date }, undefined],
    [{}, undefined],
  ])('%o: %s', (responseHeaders, retryAfterMs) => {
    expect(mapped(apiError(429, { responseHeaders })).details.retryAfterMs).toBe(retryAfterMs);
  });
});

describe('no secret leaves', () => {
  const key = 'sk-proj-4f9aB3cD5eF6gH7iJ8kL9mN0';
  test.each<[string, unknown]>([
    [
      'URL, request and headers',
      apiError(500, { responseHeaders: { 'set-cookie': 'hunter2' }, responseBody: 'hunter2' }),
    ],
    ['a key that the provider repeats', apiError(401, { message: `Incorrect API key provided: ${key}` })],
    ['a key in other words', apiError(400, { message: `bad ${key} in Bearer hunter2 and hunter2-header` })],
    ['a key in a cause', Object.assign(new Error('x'), { cause: apiError(500, { message: key }) })],
    ['a key that is thrown as text', `Authorization: Bearer hunter2 ${key}`],
    ['what follows the scheme of a header', new Error('bad token tok_hunter2')],
    ['credentials in a URL', new Error('no answer of https://user:hunter2@proxy.example/v1, nor of wss://hunter2@a')],
    ['an unknown object', { url: 'https://hunter2', message: `key=${key}` }],
  ])('%s', (_, thrown) => {
    const error = mapped(thrown);
    const all = `${inspect(error, { depth: 9, showHidden: true })} ${JSON.stringify(error)} ${error.stack}`;
    expect(all).not.toMatch(/hunter2|4f9aB3cD/);
  });

  test('and ordinary words stay', () => {
    const words =
      "Unsupported value: 'temperature' does not support 0 with this model. max_tokens must be 8192 or less";
    expect(mapped(apiError(400, { message: words })).message).toContain(words);
  });

  test('a long message is cut', () => {
    expect([...mapped(apiError(400, { message: 'ab '.repeat(1_000) })).message].length).toBeLessThan(400);
  });
});
