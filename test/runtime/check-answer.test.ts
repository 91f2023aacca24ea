import { describe, expect, test } from 'vitest';
import { checkAnswer, checkDelta } from '../../runtime/check-answer.ts';
import { refusalOf } from '../persistence/values/refusal-of.ts';

describe('checkAnswer', () => {
  test.each([
    [{}],
    [{ text: null, parts: null, toolCalls: null, usage: null, finishReason: null, providerRequestId: null }],
    [{ text: '', parts: [], toolCalls: [{}], usage: { inputTokens: 0, other: undefined, more: null } }],
    [{ parts: [{ type: 'text', text: '' }, { type: 'reasoning', text: '' }, { type: 'source' }, { type: 'custom' }] }],
    [{ parts: [{ type: 'file', mediaType: '', reference: '' }], toolCalls: [{ toolName: 42, invalidInput: null }] }],
  ])('%o has the form', (answer) => {
    expect(checkAnswer(answer, 'm')).toBe(answer);
  });

  // biome-ignore lint/suspicious/noSparseArray: the value under test
  const sparse = [{}, , {}];
  test.each<[unknown, string]>([
    [null, 'the whole of m (found null, wanted an object)'],
    [undefined, 'the whole of m (found undefined, wanted an object)'],
    [42, 'the whole of m (found 42, wanted an object)'],
    ['done', 'the whole of m (found text, wanted an object)'],
    [[], 'the whole of m (found an array, wanted an object)'],
    [{ text: 42 }, '/text of m (found 42, wanted text)'],
    [{ text: ['a'] }, '/text of m (found an array, wanted text)'],
    [{ finishReason: { reason: 'stop' } }, '/finishReason of m (found an object, wanted text)'],
    [{ providerRequestId: 1n }, '/providerRequestId of m (found a BigInt, wanted text)'],
    [{ parts: 'abc' }, '/parts of m (found text, wanted an array)'],
    [{ parts: new Map() }, '/parts of m (found a Map, wanted an array)'],
    [{ parts: [{ type: 'text', text: '' }, null] }, '/parts/1 of m (found null, wanted a part)'],
    [{ parts: ['text'] }, '/parts/0 of m (found text, wanted a part)'],
    [
      { parts: [{ type: 'toolCall' }] },
      '/parts/0/type of m (found text, wanted text, reasoning, file, source, custom)',
    ],
    [{ parts: [{ type: '__proto__' }] }, '/parts/0/type of m (found text, wanted text, reasoning'],
    [{ parts: [{}] }, '/parts/0/type of m (found undefined, wanted text, reasoning'],
    [{ parts: [{ type: 'text' }] }, '/parts/0/text of m (found undefined, wanted text)'],
    [{ parts: [{ type: 'file', mediaType: 'a/b', reference: 7 }] }, '/parts/0/reference of m (found 7, wanted text)'],
    [{ toolCalls: 'refund' }, '/toolCalls of m (found text, wanted an array)'],
    [{ toolCalls: { 0: {} } }, '/toolCalls of m (found an object, wanted an array)'],
    [{ toolCalls: ['refund'] }, '/toolCalls/0 of m (found text, wanted a call)'],
    [{ toolCalls: sparse }, '/toolCalls/1 of m (found undefined, wanted a call)'],
    [{ toolCalls: [{ invalidInput: {} }] }, '/toolCalls/0/invalidInput of m (found an object, wanted text)'],
    [{ usage: 12 }, '/usage of m (found 12, wanted an object)'],
    [{ usage: { inputTokens: -1 } }, '/usage/inputTokens of m (found -1, wanted a number from 0 on)'],
    [{ usage: { inputTokens: Number.NaN } }, '/usage/inputTokens of m (found NaN, wanted a number from 0 on)'],
    [
      { usage: { inputTokens: Number.POSITIVE_INFINITY } },
      '/usage/inputTokens of m (found Infinity, wanted a number from 0 on)',
    ],
    [{ usage: { inputTokens: '12' } }, '/usage/inputTokens of m (found text, wanted a number from 0 on)'],
    [{ usage: { inputTokens: 12n } }, '/usage/inputTokens of m (found a BigInt, wanted a number from 0 on)'],
  ])('%o has not, and the error says where', (answer, said) => {
    expect(refusalOf(() => checkAnswer(answer, 'm'))).toMatchObject({
      code: 'MODEL_FAILED',
      retryable: false,
      message: expect.stringContaining(`answer not accepted: ${said}`),
    });
  });

  test('no text of an answer stands in the error', () => {
    const secret = { text: { a: 'hunter2' }, parts: [{ type: 'hunter2' }] };
    expect(JSON.stringify(refusalOf(() => checkAnswer(secret, 'm')))).not.toContain('hunter2');
    expect(JSON.stringify(refusalOf(() => checkAnswer({ parts: secret.parts }, 'm')))).not.toContain('hunter2');
  });
});

test('checkDelta takes text and reasoning, and nothing else', () => {
  const delta = { type: 'reasoning', text: '' };
  expect(checkDelta({ ...delta, more: 1 }, 'm')).toEqual(delta);
  for (const odd of [
    null,
    undefined,
    'text',
    { type: 'text' },
    { type: 'text', text: 1 },
    { type: 'audio', text: '' },
  ]) {
    expect(refusalOf(() => checkDelta(odd, 'm'))).toMatchObject({ code: 'MODEL_FAILED', retryable: false });
  }
});
