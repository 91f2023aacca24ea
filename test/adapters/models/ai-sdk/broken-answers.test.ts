import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, test } from 'vitest';
import type { SdkStreamPart } from '../../../../adapters/models/ai-sdk/sdk-types.ts';
import { aiSdk } from '../../../../adapters/models/ai-sdk.ts';
import { TurnlockError } from '../../../../errors.ts';
import { requestOf, said } from '../../../../testing/contracts/model-requests.ts';
import { contextOf } from './history.ts';
import { finish, mockModel, text, toolCall } from './mock-model.ts';

const request = requestOf([said('Hi')]);
const call = toolCall('c1', 'charge', '{"cents":100}');

function ask(parts: readonly SdkStreamPart[]): Promise<unknown> {
  return aiSdk(mockModel(parts)).generate(request, contextOf());
}

function because(unified: Parameters<typeof finish>[0], raw: string | undefined): SdkStreamPart {
  return finish(unified, { finishReason: { unified, raw } });
}

describe('C30 a call does not count', () => {
  test.each([
    ['the stream ends without a reason', [call], true],
    ['the provider says that it was interrupted', [call, finish('interrupted')], true],
    ['the reason is nothing that the provider said', [call, because('other', undefined)], true],
    [
      'an error follows',
      [call, { type: 'error' as const, error: { type: 'overloaded_error' } }, finish('tool-calls')],
      true,
    ],
    ['it ends with an error', [call, because('error', 'error')], true],
    ['it was cut by the bound on tokens', [...text('x'), call, because('length', 'max_tokens')], false],
    ['the content filter stopped it', [call, because('content-filter', 'refusal')], false],
    ['the provider pauses in tools of its own', [call, because('stop', 'pause_turn')], false],
  ])('when %s', async (_, parts, retryable) => {
    await expect(ask(parts as SdkStreamPart[])).rejects.toMatchObject({ code: 'MODEL_FAILED', retryable });
  });

  test('when the stream breaks', async () => {
    const model = new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream<SdkStreamPart>(
          {
            pull(controller) {
              if (controller.desiredSize === 1) controller.enqueue(call);
              else controller.error(new TypeError('terminated'));
            },
          },
          { highWaterMark: 2 },
        ),
      }),
    });
    await expect(aiSdk(model).generate(request, contextOf())).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      retryable: true,
    });
  });
});

describe('an answer that was cut', () => {
  test('counts as text', async () => {
    expect(await ask([...text('It is'), because('length', 'length')])).toMatchObject({
      text: 'It is',
      finishReason: 'length',
    });
  });

  test('does not count when there is nothing but reasoning', async () => {
    const parts: SdkStreamPart[] = [{ type: 'reasoning-delta', id: 'r', delta: 'Hm' }, because('length', 'length')];
    await expect(ask(parts)).rejects.toMatchObject({
      retryable: false,
      hint: expect.stringContaining('maxOutputTokens'),
    });
  });
});

test('a reason that the SDK does not know, but the provider gave, counts', async () => {
  expect(await ask([call, because('other', 'eos')])).toMatchObject({ toolCalls: [{ toolName: 'charge' }] });
});

test('an approval that a tool of the provider asks for cannot be given', async () => {
  const approval = { type: 'tool-approval-request' as const, approvalId: 'a', toolCallId: 'c' };
  await expect(ask([approval, finish('stop')])).rejects.toMatchObject({ code: 'MODEL_FAILED', retryable: false });
});

describe('an abort', () => {
  const reason = new TurnlockError('MODEL_FAILED', { message: 'model did not answer in time: m' });

  test('ends a stream that says nothing, with the reason of the signal, and lets go of it', async () => {
    const abort = new AbortController();
    let cancelled: unknown;
    const model = new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream<SdkStreamPart>(
          {
            pull: () => {
              queueMicrotask(() => abort.abort(reason));
              return new Promise(() => undefined);
            },
            cancel: (why) => {
              cancelled = why;
            },
          },
          { highWaterMark: 0 },
        ),
      }),
    });
    await expect(aiSdk(model).generate(request, contextOf(abort.signal))).rejects.toBe(reason);
    expect(cancelled).toBe(reason);
  });

  test('while the provider begins its answer lets go of the stream', async () => {
    const abort = new AbortController();
    let cancelled: unknown;
    const model = new MockLanguageModelV4({
      doStream: async () => {
        abort.abort(reason);
        const cancel = (why: unknown) => {
          cancelled = why;
        };
        return { stream: new ReadableStream<SdkStreamPart>({ pull: () => new Promise(() => undefined), cancel }) };
      },
    });
    await expect(aiSdk(model).generate(request, contextOf(abort.signal))).rejects.toBe(reason);
    expect(cancelled).toBe(reason);
  });

  test('before the request sends nothing', async () => {
    const model = mockModel([finish('stop')]);
    await expect(aiSdk(model).generate(request, contextOf(AbortSignal.abort(reason)))).rejects.toBe(reason);
    expect(model.doStreamCalls).toEqual([]);
  });

  test('counts before what the provider makes of it', async () => {
    const abort = new AbortController();
    const model = new MockLanguageModelV4({
      doStream: async () => {
        abort.abort(reason);
        throw new DOMException('aborted', 'AbortError');
      },
    });
    await expect(aiSdk(model).generate(request, contextOf(abort.signal))).rejects.toBe(reason);
  });
});

test('after an error the stream is let go', async () => {
  let cancelled = false;
  const model = new MockLanguageModelV4({
    doStream: async () => ({
      stream: new ReadableStream<SdkStreamPart>({
        pull: (controller) => controller.enqueue({ type: 'error', error: 'no' }),
        cancel: () => {
          cancelled = true;
        },
      }),
    }),
  });
  await expect(aiSdk(model).generate(request, contextOf())).rejects.toMatchObject({ code: 'MODEL_FAILED' });
  expect(cancelled).toBe(true);
});
