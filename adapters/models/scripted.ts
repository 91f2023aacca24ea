import { TurnlockError } from '../../errors.ts';
import type { Model, ModelContext, ModelRequest, ModelResponse } from './model.contract.ts';

export { hashedNgrams } from '../embedders/hashed-ngrams.ts';

/** What a scripted model says: an answer, or a function of the request. A string is an answer without calls. */
export type ScriptedStep = string | ModelResponse | ((request: ModelRequest, context: ModelContext) => ScriptedAnswer);

/** The result of a step that is a function. */
export type ScriptedAnswer = string | ModelResponse | Promise<string | ModelResponse>;

/**
 * A model without a provider, for tests, examples and demonstrations: as deterministic as its steps.
 *
 * With an array, step `n` answers when the history holds `n` assistant turns: the history counts, not the process, so a session
 * that is recovered elsewhere goes on with the right step. With a function, the function answers every request.
 *
 * @throws DEFINITION_INVALID for steps or options of another kind.
 * @throws MODEL_FAILED from `generate`, not retryable, when the steps are used up.
 */
export function scripted(script: ScriptedStep[] | ScriptedStep, options: { modelId?: string } = {}): Model {
  const steps: unknown[] = Array.isArray(script) ? script : [script];
  check(steps.every(isStep), 'steps', 'texts, answers or functions');
  check(typeof options === 'object' && options !== null, 'options', 'an object');
  const { modelId = 'scripted' } = options;
  check(typeof modelId === 'string', 'modelId', 'text');
  return {
    modelId,
    provider: 'scripted',
    async generate(request, context) {
      const step = Array.isArray(script) ? script[countAnswers(request)] : script;
      if (step === undefined) throw usedUp(countAnswers(request));
      const answer = typeof step === 'function' ? await step(request, context) : step;
      const response = typeof answer === 'string' ? { text: answer } : answer;
      if (response.text) context.emit({ type: 'text', text: response.text });
      return { finishReason: response.toolCalls?.length ? 'tool-calls' : 'stop', ...response };
    },
  };
}

function isStep(step: unknown): boolean {
  return typeof step === 'string' || typeof step === 'function' || (typeof step === 'object' && step !== null);
}

function check(holds: boolean, option: string, wanted: string): void {
  if (holds) return;
  throw new TurnlockError('DEFINITION_INVALID', {
    message: `model option not accepted: ${option} of scripted (wanted ${wanted})`,
  });
}

function countAnswers(request: ModelRequest): number {
  return request.turns.filter((turn) => turn.role === 'assistant').length;
}

function usedUp(count: number): TurnlockError {
  return new TurnlockError('MODEL_FAILED', {
    message: `script is used up: scripted model (found ${count} assistant turns, wanted a step for the next one)`,
    retryable: false,
  });
}
