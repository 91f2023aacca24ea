import type { StoredTransition } from '../persistence/read-transitions.ts';
import type { Followed } from './followed.ts';
import type { LiveDelta } from './live-deltas.ts';
import { Wake } from './wake.ts';

/** Characters of an answer that wait for one slow reader. Beyond it the reader is told that they are void: the committed turn follows. */
const MAX_WAITING_CHARACTERS = 262_144;

/** Events after which an attempt of a model goes no further, though its session may still be PLANNING. */
const ENDS_ATTEMPT: readonly string[] = ['model.attemptFailed', 'worker.tookOver', 'lease.released', 'run.cancelled'];

type Attempt = Pick<LiveDelta, 'runId' | 'attempt'>;

/** The pieces that wait for one reader, put between the transitions where they belong, and the attempts that are void. */
export class DeltaQueue {
  /** Woken by each piece. */
  readonly wake = new Wake();
  #waiting: LiveDelta[] = [];
  #characters = 0;
  /** Of which the reader has seen pieces, and no answer yet. */
  #shown: Attempt | null = null;
  /** Of which no more is shown: its reader was too slow. */
  #given: Attempt | null = null;

  readonly push = (delta: LiveDelta): void => {
    if (isSame(this.#given, delta)) return;
    this.#characters += delta.text.length;
    if (this.#characters > MAX_WAITING_CHARACTERS) {
      this.#given = { runId: delta.runId, attempt: delta.attempt };
      this.#clear();
    } else {
      this.#waiting.push(delta);
    }
    this.wake.wake();
  };

  /** What a reader is to see once it has seen every transition up to the sequence `last`. */
  *take(last: number): Generator<Followed, void> {
    if (this.#given !== null && isSame(this.#shown, this.#given)) yield* this.#void();
    for (let next = this.#waiting[0]; next !== undefined && next.after <= last; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#characters -= next.text.length;
      if (!isSame(this.#shown, next)) yield* this.#void();
      const { runId, attempt, kind, text } = next;
      this.#shown = { runId, attempt };
      yield { type: 'delta', kind, text, attempt, runId };
    }
  }

  /** What a reader is to see before a transition. */
  *before({ type, to, sequence }: StoredTransition): Generator<Followed, void> {
    yield* this.take(sequence - 1);
    const isAnswered = type === 'model.replied' || type === 'model.calledTools';
    if (!isAnswered && to === 'PLANNING' && !ENDS_ATTEMPT.includes(type)) return;
    if (isAnswered) this.#shown = null;
    else yield* this.#void();
    this.#given = null;
  }

  *#void(): Generator<Followed, void> {
    if (this.#shown !== null) yield { type: 'voided', ...this.#shown };
    this.#shown = null;
  }

  #clear(): void {
    this.#waiting = [];
    this.#characters = 0;
  }
}

function isSame(one: Attempt | null, other: Attempt): boolean {
  return one !== null && one.runId === other.runId && one.attempt === other.attempt;
}
