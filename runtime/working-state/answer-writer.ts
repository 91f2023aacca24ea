import type { DeltaPiece, DeltaTopic } from './delta-channel.contract.ts';
import { PieceQueue } from './piece-queue.ts';
import { publishing, Subscription } from './subscription.ts';
import type { UsedChannel } from './used-channel.ts';

/** A piece as the drive has it. */
export type WrittenDelta = Pick<DeltaPiece, 'kind' | 'text' | 'runId' | 'attempt' | 'token' | 'after'>;

/**
 * What the models of one session write here, put on the channel piece by piece: while the channel takes one, those that come become one.
 *
 * It keeps the attempt that goes on for who comes late, and says it again when somebody asks. An attempt longer than `maxBytes` is not said
 * again; one of which more than that waits for a slow channel goes no further. Either way a reader sees the answer once it is committed.
 */
export class AnswerWriter {
  readonly #used: UsedChannel;
  readonly #topic: DeltaTopic;
  readonly #maxBytes: number;
  #kept: PieceQueue;
  #unsent: PieceQueue;
  #attempt: Pick<DeltaPiece, 'runId' | 'attempt' | 'token' | 'from'> | null = null;
  /** UTF-16 units that the attempt has by now. */
  #length = 0;
  #isSending = false;
  #isOver = false;
  #subscription: Subscription | null = null;

  constructor(used: UsedChannel, topic: DeltaTopic, maxBytes: number) {
    this.#used = used;
    this.#topic = topic;
    this.#maxBytes = maxBytes;
    this.#kept = new PieceQueue(maxBytes);
    this.#unsent = new PieceQueue(maxBytes);
  }

  write(delta: WrittenDelta): void {
    if (this.#isOver) return;
    this.#subscription ??= new Subscription(this.#used, this.#topic, {
      onMessage: ({ type }) => type === 'asked' && this.#sayAgain(),
    });
    const piece: DeltaPiece = { type: 'piece', ...delta, from: this.#begin(delta), at: this.#length };
    this.#length += delta.text.length;
    this.#kept.add(piece);
    this.#unsent.add(piece);
    this.#send();
  }

  /** The attempt has ended, with an answer or without: nothing is kept of it. */
  endAttempt(): void {
    this.#attempt = null;
    this.#length = 0;
    this.#kept = new PieceQueue(this.#maxBytes);
    this.#unsent = new PieceQueue(this.#maxBytes);
  }

  /** The session is not driven here any more. */
  end(): void {
    this.#isOver = true;
    this.endAttempt();
    this.#subscription?.end();
  }

  /** When the attempt of a piece began to show something. */
  #begin({ runId, attempt, token, after }: WrittenDelta): number {
    const begun = this.#attempt;
    if (begun?.runId === runId && begun.attempt === attempt && begun.token === token) return begun.from;
    this.endAttempt();
    this.#attempt = { runId, attempt, token, from: after };
    return after;
  }

  #sayAgain(): void {
    if (this.#kept.isFull || this.#unsent.isFull) return;
    this.#unsent.replace(this.#kept.pieces);
    this.#send();
  }

  /** Hands over what is unsent, one message at a time. With a channel that takes each at once all of it is out when this returns. */
  #send(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    for (let piece = this.#unsent.shift(); piece !== undefined; piece = this.#unsent.shift()) {
      const message = piece;
      const { channel, onFailed } = this.#used;
      const taken = publishing(() => channel.publish(this.#topic, message), onFailed);
      if (taken === null) continue;
      void taken.then(() => {
        this.#isSending = false;
        this.#send();
      });
      return;
    }
    this.#isSending = false;
  }
}
