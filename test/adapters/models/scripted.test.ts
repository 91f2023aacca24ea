import { describe, expect, test } from 'vitest';
import type { ModelDelta, ModelRequest, ModelTurn } from '../../../adapters/models/model.contract.ts';
import { type ScriptedStep, scripted } from '../../../adapters/models/scripted.ts';
import { modelContract } from '../../../testing/contracts/model-contract.ts';
import { contractTests } from '../../testing/contracts/contract-tests.ts';
import { soundModel } from '../../testing/contracts/sound-model.ts';

describe('what every model does', () => {
  contractTests(modelContract({ make: soundModel }));
});

const call = { toolCalls: [{ toolName: 'refund', input: {} }] };

describe('a script with steps', () => {
  test('goes by the history and not by the process: each step answers when it is its turn', async () => {
    const script: ScriptedStep[] = ['one', call, 'three'];
    // A new model each time, as after a crash.
    const answers = await Promise.all([0, 1, 2, 1].map((turns) => generate(script, turns)));
    expect(answers.map(({ response }) => response)).toEqual([
      { text: 'one', finishReason: 'stop' },
      { ...call, finishReason: 'tool-calls' },
      { text: 'three', finishReason: 'stop' },
      { ...call, finishReason: 'tool-calls' },
    ]);
  });

  test('only assistant turns count', async () => {
    const request = requestWith(['user', 'assistant', 'tool', 'tool', 'system', 'user']);
    const { text } = await scripted(['one', 'two']).generate(request, context());
    expect(text).toBe('two');
  });

  test.each<[string, ScriptedStep[], number]>([
    ['is used up', ['one'], 1],
    ['is empty', [], 0],
  ])('that %s fails for good', async (_title, script, turns) => {
    await expect(generate(script, turns)).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      retryable: false,
      message: expect.stringContaining(`found ${turns} assistant turns`),
    });
  });
});

describe('a step that is a function', () => {
  test('is asked with the request, and may answer later', async () => {
    const echo: ScriptedStep = async ({ turns }) => `turn ${turns.length}`;
    expect((await generate(echo, 4)).response).toEqual({ text: 'turn 4', finishReason: 'stop' });
    expect((await generate([echo], 0)).response.text).toBe('turn 0');
  });

  test('what it throws is what the model throws', async () => {
    const thrown = new Error('busy');
    const failing: ScriptedStep = () => {
      throw thrown;
    };
    await expect(generate(failing, 0)).rejects.toBe(thrown);
  });

  test('is handed the signal', async () => {
    const { signal } = new AbortController();
    let seen: AbortSignal | undefined;
    const script: ScriptedStep = (_request, given) => {
      seen = given.signal;
      return '';
    };
    await scripted(script).generate(requestWith([]), { signal, emit: () => undefined });
    expect(seen).toBe(signal);
  });
});

test('text is shown as it is said; an answer without text shows nothing', async () => {
  expect((await generate('hello', 0)).deltas).toEqual([{ type: 'text', text: 'hello' }]);
  expect((await generate({ ...call, text: '' }, 0)).deltas).toEqual([]);
});

test('an answer keeps what it says of itself', async () => {
  const answer = { text: 'cut', finishReason: 'length', usage: { inputTokens: 1 } };
  expect((await generate(answer, 0)).response).toEqual(answer);
});

test.each<[unknown, unknown?]>([[null], [undefined], [[null]], ['a', null], ['a', 7], ['a', { modelId: 7 }]])(
  'steps %j with options %j are refused',
  (script, ...options) => {
    expect(() => scripted(script as string, ...(options as [object]))).toThrow(
      expect.objectContaining({ code: 'DEFINITION_INVALID' }),
    );
  },
);

test('the model has a name, which can be chosen', () => {
  expect(scripted('').modelId).toBe('scripted');
  expect(scripted('', { modelId: 'mine' }).modelId).toBe('mine');
});

async function generate(script: ScriptedStep[] | ScriptedStep, assistantTurns: number) {
  const deltas: ModelDelta[] = [];
  const request = requestWith(Array.from({ length: assistantTurns }, () => 'assistant' as const));
  const response = await scripted(script).generate(request, context(deltas));
  return { response, deltas };
}

function context(deltas: ModelDelta[] = []) {
  return { signal: new AbortController().signal, emit: (delta: ModelDelta) => void deltas.push(delta) };
}

function requestWith(roles: ModelTurn['role'][]): ModelRequest {
  const turns = roles.map((role, turnIndex) => ({ turnIndex, role, text: '', parts: [] }));
  const ids = { tenantId: 't', userId: 'u', sessionId: 's', runId: 'r' };
  return { instructions: '', turns, tools: [], ...ids, attempt: 1 };
}
