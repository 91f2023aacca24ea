import type { ModelDelta } from '../adapters/models/model.contract.ts';
import { checkDelta } from './check-answer.ts';

/**
 * What a model shows during one attempt. `emit` never throws: a model may call it from a timer of its own, where nobody would catch that,
 * and after its attempt is over, which shows nothing.
 */
export class AttemptDeltas {
  readonly #modelId: string;
  readonly #show: (delta: ModelDelta) => void;
  #wrong: { thrown: unknown } | null = null;
  #isOver = false;

  constructor(modelId: string, show: (delta: ModelDelta) => void) {
    this.#modelId = modelId;
    this.#show = show;
  }

  readonly emit = (delta: ModelDelta): void => {
    if (this.#isOver) return;
    try {
      this.#show(checkDelta(delta, this.#modelId));
    } catch (thrown) {
      this.#wrong ??= { thrown };
    }
  };

  /** @throws MODEL_FAILED, not retryable, when one of them was no piece of an answer: for the first such one. */
  check(): void {
    if (this.#wrong !== null) throw this.#wrong.thrown;
  }

  /** From now on nothing is shown. */
  end(): void {
    this.#isOver = true;
  }
}
