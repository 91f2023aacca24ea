import type { RunEvent, RunResult } from './run-event.ts';

/** How many events a run keeps for subscribers that come late. Beyond it the oldest are let go; they stand in the database. */
const MAX_KEPT_EVENTS = 10_000;

/**
 * A run as its sender sees it. Durable as soon as `send` resolved: leaving the process, or never looking at it, loses nothing.
 *
 * Iterating gives what this process drives of the run, from its begin on, also to who comes late (the last 10 000 events are kept, and of
 * pieces of answers the last `limits.maxDeltaBytes`), and ends when it rests. Of a run that another process drives, or drove, there are no events here: see `history` and `transitions`.
 */
export interface Run<Output = unknown> extends AsyncIterable<RunEvent> {
  readonly runId: string;
  readonly sessionId: string;
  /** Whether the message was known already: then this is the run that it started then. */
  readonly repeated: boolean;
  /**
   * Settles when the run rests, whoever drives it; taken over here when its process died. Never rejects for work that failed: that is a
   * result. Every call of it gives the same promise; that of a message sent with `transaction` looks again where it was refused before.
   *
   * @throws RUN_NOT_FOUND, SESSION_NOT_FOUND for a message sent with `transaction`, while that has not committed, and for ever once it was rolled
   * back. It is not waited for: ask after COMMIT.
   * @throws RUNTIME_CLOSED when this process stopped driving the run; another one, or `recover`, continues it.
   * @throws DATABASE_UNREACHABLE when the database stays away. AGENT_UNKNOWN, AGENT_VERSION_MISMATCH when this build cannot go on with it.
   */
  result(): Promise<RunResult<Output>>;
}

/** The sender's end and the driver's end of one run. Of pieces of answers it keeps the last `maxDeltaBytes` of UTF-8. */
export class RunFeed {
  /** Whether somebody lets it go once the run is over: then it goes on where the run sleeps and is driven again. */
  isFollowed = false;
  /** In order; `null` in place of a piece that was let go. */
  readonly #events: (RunEvent | null)[] = [];
  readonly #maxDeltaBytes: number;
  #deltaBytes = 0;
  /** Before this place no piece is left. */
  #firstDelta = 0;
  #dropped = 0;
  #ended = false;
  #wake: (() => void)[] = [];

  constructor(maxDeltaBytes: number) {
    this.#maxDeltaBytes = maxDeltaBytes;
  }

  /** Hands an event to everybody who iterates, now or later. */
  push(event: RunEvent): void {
    this.#events.push(event);
    this.#deltaBytes += deltaBytesOf(event);
    while (this.#deltaBytes > this.#maxDeltaBytes) this.#letGoOfPiece();
    if (this.#events.length > MAX_KEPT_EVENTS) {
      this.#deltaBytes -= deltaBytesOf(this.#events.shift() ?? null);
      this.#firstDelta = Math.max(0, this.#firstDelta - 1);
      this.#dropped += 1;
    }
    this.#notify();
  }

  #letGoOfPiece(): void {
    const bytes = deltaBytesOf(this.#events[this.#firstDelta] ?? null);
    if (bytes > 0) this.#events[this.#firstDelta] = null;
    this.#deltaBytes -= bytes;
    this.#firstDelta += 1;
  }

  /** No event comes after this. */
  end(): void {
    this.#ended = true;
    this.#notify();
  }

  #notify(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }

  /** Every event from the run's begin on, then those that come. */
  async *iterate(): AsyncGenerator<RunEvent, void> {
    for (let next = 0; ; ) {
      next = Math.max(next, this.#dropped);
      const event = this.#events[next - this.#dropped];
      if (event !== undefined) {
        next += 1;
        if (event !== null) yield event;
      } else if (this.#ended) {
        return;
      } else {
        await new Promise<void>((resolve) => this.#wake.push(resolve));
      }
    }
  }
}

function deltaBytesOf(event: RunEvent | null): number {
  return event?.type === 'delta' ? Buffer.byteLength(event.text) : 0;
}

/** Puts a run's handle together. An error of `settled` reaches whoever asks for the result, and nobody else. */
export function createRun<Output>(
  facts: { runId: string; sessionId: string; repeated: boolean },
  feed: RunFeed,
  settled: Promise<RunResult<Output>>,
): Run<Output> {
  settled.catch(() => undefined);
  return { ...facts, result: () => settled, [Symbol.asyncIterator]: () => feed.iterate() };
}

/**
 * A run that somebody else's commit begins: nobody looks for it before its result or its events are asked for. Who asks too early, before
 * that commit, is told so, and may ask again.
 */
export function createLaterRun<Output>(
  facts: { runId: string; sessionId: string; repeated: boolean },
  begin: () => Run<Output>,
): Run<Output> {
  let begun: Run<Output> | undefined;
  const forget = (): void => {
    begun = undefined;
  };
  const run = (): Run<Output> => {
    if (begun !== undefined) return begun;
    begun = begin();
    begun.result().catch(forget); // before whoever asked hears of it
    return begun;
  };
  return { ...facts, result: () => run().result(), [Symbol.asyncIterator]: () => run()[Symbol.asyncIterator]() };
}
