import type { DeltaMessage, DeltaTopic, Unsubscribe } from './delta-channel.contract.ts';
import { readMessage } from './read-message.ts';
import type { UsedChannel } from './used-channel.ts';

/** A subscription to one topic, whether the channel answers at once or later. What it throws is told and changes nothing. */
export class Subscription {
  readonly #onFailed: (error: unknown) => void;
  #unsubscribe: Unsubscribe | null = null;
  #isOver = false;

  constructor(
    { channel, onFailed }: UsedChannel,
    topic: DeltaTopic,
    { onMessage, onReady = () => undefined }: { onMessage(message: DeltaMessage): void; onReady?(): void },
  ) {
    this.#onFailed = onFailed;
    const begun = (unsubscribe: Unsubscribe): void => {
      this.#unsubscribe = unsubscribe;
      if (this.#isOver) this.#leave();
      else onReady();
    };
    try {
      const given = channel.subscribe(topic, (message) => {
        const read = this.#isOver ? null : readMessage(message);
        if (read !== null) onMessage(read);
      });
      if (typeof given === 'function') begun(given);
      else given.then(begun).catch(onFailed);
    } catch (error) {
      onFailed(error);
    }
  }

  /** From now on nothing is told. */
  end(): void {
    this.#isOver = true;
    this.#leave();
  }

  #leave(): void {
    const unsubscribe = this.#unsubscribe;
    this.#unsubscribe = null;
    if (unsubscribe !== null) void publishing(() => unsubscribe(), this.#onFailed);
  }
}

/** Does something with a channel; `null` where it was done at once, else a promise that never rejects. */
export function publishing(act: () => void | Promise<void>, onFailed: (error: unknown) => void): Promise<void> | null {
  try {
    const done = act();
    // Whatever kind of promise it is, what is given back is an ordinary one.
    return typeof done?.then === 'function' ? Promise.resolve(done).then(undefined, onFailed) : null;
  } catch (error) {
    onFailed(error);
    return null;
  }
}
