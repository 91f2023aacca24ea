import type { StoredTransition } from '../../persistence/read-transitions.ts';
import type { Followed } from '../followed.ts';
import { Wake } from '../wake.ts';
import type { DeltaPiece } from './delta-channel.contract.ts';
import { compareAttempts } from './piece-reader.ts';

/** Events after which an attempt of a model goes no further, though its session may still be PLANNING. */
const ENDS_ATTEMPT: readonly string[] = ['model.attemptFailed', 'worker.tookOver', 'lease.released', 'run.cancelled'];

type Attempt = Pick<DeltaPiece, 'runId' | 'attempt' | 'token' | 'from'>;

/**
 * The pieces that wait for one reader, put between the transitions where they belong, and the attempts that are void. Where more than
 * `maxBytes` of UTF-8 wait for a slow one it is told that they are void: the committed turn follows.
 */
export class DeltaQueue {
  /** Woken by each piece. */
  readonly wake = new Wake();
  readonly #maxBytes: number;
  #waiting: DeltaPiece[] = [];
  #bytes = 0;
  /** The sequence of the last transition that ended an attempt: what one began before it comes too late, over a channel that is slow. */
  #over = 0;
  /** Of which the reader has seen pieces, and no answer yet. */
  #shown: Attempt | null = null;
  /** Of which no more is shown: its reader was too slow. */
  #given: Attempt | null = null;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  readonly push = (piece: DeltaPiece): void => {
    if (isSame(this.#given, piece)) return;
    this.#bytes += Buffer.byteLength(piece.text);
    if (this.#bytes > this.#maxBytes) {
      const { runId, attempt, token, from } = piece;
      this.#given = { runId, attempt, token, from };
      this.#clear();
    } else {
      this.#waiting.push(piece);
    }
    this.wake.wake();
  };

  /** What a reader is to see once it has seen every transition up to the sequence `last`. */
  *take(last: number): Generator<Followed, void> {
    if (this.#given !== null && isSame(this.#shown, this.#given)) yield* this.#void();
    for (let next = this.#waiting[0]; next !== undefined && next.after <= last; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#bytes -= Buffer.byteLength(next.text);
      if (next.from < this.#over) continue;
      if (!isSame(this.#shown, next)) yield* this.#void();
      const { runId, attempt, token, from, kind, text } = next;
      this.#shown = { runId, attempt, token, from };
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
    this.#over = sequence;
  }

  *#void(): Generator<Followed, void> {
    const shown = this.#shown;
    this.#shown = null;
    if (shown !== null) yield { type: 'voided', runId: shown.runId, attempt: shown.attempt };
  }

  #clear(): void {
    this.#waiting = [];
    this.#bytes = 0;
  }
}

function isSame(one: Attempt | null, other: Attempt): boolean {
  return one !== null && compareAttempts(one, other) === 0;
}
