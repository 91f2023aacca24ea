import { AnswerWriter, type WrittenDelta } from './answer-writer.ts';
import type { DeltaPiece, DeltaTopic } from './delta-channel.contract.ts';
import { PieceReader } from './piece-reader.ts';
import { publishing, Subscription } from './subscription.ts';
import type { UsedChannel } from './used-channel.ts';

/**
 * What models write at this moment, for whoever follows their sessions: of those that this process drives, and of others as far as the
 * channel reaches. Nothing of it is stored, and nothing of it waits for a reader.
 */
export class LiveDeltas {
  readonly #used: UsedChannel;
  readonly #maxBytes: number;
  readonly #writers = new Map<string, AnswerWriter>();

  constructor(used: UsedChannel, maxBytes: number) {
    this.#used = used;
    this.#maxBytes = maxBytes;
  }

  /** How many sessions it holds something of. */
  get size(): number {
    return this.#writers.size;
  }

  /** Hands a piece to everybody who watches the session, now or before its attempt ends. */
  show(topic: DeltaTopic, delta: WrittenDelta): void {
    const writer = this.#writers.get(topic.sessionId) ?? new AnswerWriter(this.#used, topic, this.#maxBytes);
    this.#writers.set(topic.sessionId, writer);
    writer.write(delta);
  }

  /** The attempt of the session has ended, with an answer or without. */
  endAttempt(sessionId: string): void {
    this.#writers.get(sessionId)?.endAttempt();
  }

  /** The session is not driven here any more: nothing is kept of it. */
  end(sessionId: string): void {
    this.#writers.get(sessionId)?.end();
    this.#writers.delete(sessionId);
  }

  /** Tells `watcher` what the attempt that goes on has shown, then every piece that comes, until the function is called that it returns. */
  watch(topic: DeltaTopic, watcher: (piece: DeltaPiece) => void): () => void {
    const { channel, onFailed } = this.#used;
    const ask = () => void publishing(() => channel.publish(topic, { type: 'asked' }), onFailed);
    const reader = new PieceReader({ show: watcher, ask });
    const subscription = new Subscription(this.#used, topic, {
      onMessage: (message) => message.type === 'piece' && reader.take(message),
      onReady: ask,
    });
    return () => subscription.end();
  }
}
