import { expect, test } from 'vitest';
import type { Model, ModelContext, ModelRequest, ModelResponse } from '../../../adapters/models/model.contract.ts';
import { TurnlockError } from '../../../errors.ts';
import { modelContract, type ProviderAct } from '../../../testing/contracts/model-contract.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { eachCaseCanFail } from './broken-cases.ts';
import { soundModel } from './sound-model.ts';

/** How a broken model differs from a sound one, given what its provider does and the sound one. */
type Change = (sound: Model, act: ProviderAct) => Partial<Model>;

function over(change: Change) {
  return () =>
    modelContract({
      patienceMs: 20,
      make: (act) => {
        const { model, asked } = soundModel(act);
        return { model: { ...model, ...change(model, act) }, asked };
      },
    });
}

/** One whose answers are changed. */
function answering(change: (response: ModelResponse, request: ModelRequest) => ModelResponse) {
  return over((sound) => ({
    generate: async (request, context) => change(await sound.generate(request, context), request),
  }));
}

/** One that does something else than ask its provider for some requests. */
function asking(change: (request: ModelRequest, context: ModelContext) => ModelRequest) {
  return over((sound) => ({ generate: async (request, context) => sound.generate(change(request, context), context) }));
}

/** One that throws something else. */
function throwing(change: (thrown: unknown) => unknown) {
  return over((sound) => ({
    generate: (request, context) =>
      sound.generate(request, context).catch((thrown: unknown) => {
        throw change(thrown);
      }),
  }));
}

let made = 0;

/** A number that nobody had before. */
function next(): number {
  made += 1;
  return made;
}

/** One that leaves a rejection unhandled, which the runner must not take for one of the test. */
function careless() {
  const listeners = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  atTestEnd(() => {
    for (const listener of listeners) process.on('unhandledRejection', listener);
  });
  return over((sound) => ({
    generate: async (request, context) => {
      const answer = sound.generate(request, context);
      void answer.then(() => undefined);
      return await answer;
    },
  }))();
}

eachCaseCanFail(
  modelContract({ make: soundModel }).map(({ title }) => title),
  {
    'says what it is, the same from each instance': over(() => ({ modelId: `model-${next()}` })),
    'returns the text that its provider said, to the letter': answering(({ text = '', ...rest }) => ({
      ...rest,
      text: text.trim(),
    })),
    'shows pieces that make up the text, where it shows any': over((sound) => ({
      generate: async (request, context) => {
        const response = await sound.generate(request, context);
        context.emit({ type: 'text', text: response.text ?? '' });
        return response;
      },
    })),
    'asks for the calls that its provider asked for, in their order': answering(({ toolCalls = [], ...rest }) => ({
      ...rest,
      toolCalls: toolCalls.toReversed(),
    })),
    'keeps arguments that are no JSON as they came': answering(({ toolCalls = [], ...rest }) => ({
      ...rest,
      toolCalls: toolCalls.map(({ invalidInput: _, ...call }) => ({ ...call, input: {} })),
    })),
    'counts tokens as its provider does, where it counts them': answering((response) => ({
      ...response,
      usage: { inputTokens: 0 },
    })),
    'tells its provider the instructions, the conversation and the tools': asking((request) => ({
      ...request,
      turns: request.turns.slice(-1),
    })),
    'takes odd texts in the conversation': asking((request) => {
      JSON.parse(`"${request.turns[0]?.text}"`);
      return request;
    }),
    'takes its own answer back, with the results of its calls': asking((request) => {
      if (request.turns.some(({ parts }) => parts.some(({ type }) => type === 'toolCall'))) throw new Error('no calls');
      return request;
    }),
    'takes an agent’s output as JSON Schema': asking((request) => {
      if (request.outputSchema !== undefined) throw new Error('no schemas');
      return request;
    }),
    'leaves the request as it was given': asking((request) => {
      request.turns.push({ turnIndex: 99, role: 'user', text: 'x', parts: [] });
      return request;
    }),
    'answers several conversations at once, and again, each by itself': over((sound) => {
      let latest: ModelContext | undefined;
      return {
        generate: async (request, context) => {
          latest = context;
          await Promise.resolve();
          return await sound.generate(request, latest);
        },
      };
    }),
    'rejects for a signal that has aborted': over((sound, act) => ({
      generate: (request, context) =>
        act.type === 'hangs' && context.signal.aborted
          ? new Promise(() => undefined)
          : sound.generate(request, context),
    })),
    'rejects soon after its signal aborts': over((sound) => ({
      generate: (request, { emit }) => sound.generate(request, { emit, signal: new AbortController().signal }),
    })),
    'leaves no rejection unhandled': careless,
    'rejects so that another attempt is made, where that may help': throwing(
      () => new TurnlockError('MODEL_FAILED', { message: 'no answer', retryable: false }),
    ),
    'says that no further attempt helps, where its provider refuses for good': throwing(() => new Error('no answer')),
  },
);

test('a name that is no option is refused', () => {
  expect(() => modelContract({ make: soundModel, run: 1 } as never)).toThrow(
    expect.objectContaining({ code: 'OPTIONS_INVALID' }),
  );
});

const withTurns = (change: (turns: ModelRequest['turns']) => ModelRequest['turns']) =>
  asking((request) => ({ ...request, turns: change(request.turns) }));

test.each([
  ['forgets what it said itself', withTurns((turns) => turns.filter(({ role }) => role !== 'assistant')), 'I look.'],
  ['is deaf to the runtime', withTurns((turns) => turns.filter(({ role }) => role !== 'system')), 'a late result'],
  ['tells the newest first', withTurns((turns) => turns.toReversed()), 'before what was said earlier'],
])('a model that %s is found', async (_, cases, found) => {
  const told = cases().find(({ title }) => title.startsWith('tells its provider'));
  await expect(told?.run()).rejects.toThrow(found);
});
