/** The session that messages are about. */
export interface DeltaTopic {
  tenantId: string;
  sessionId: string;
}

/** A piece of an answer that is being written. */
export interface DeltaPiece {
  type: 'piece';
  kind: 'text' | 'reasoning';
  text: string;
  runId: string;
  /** Of the model call: 1 for the first. */
  attempt: number;
  /** The fencing token of whoever writes: a lower one than another's is that of a process that was taken over. */
  token: number;
  /** The sequence of the session's last transition when the attempt began to show something: with the token it names the attempt. */
  from: number;
  /** The same when this piece came: where it belongs among the transitions. */
  after: number;
  /** UTF-16 units of the attempt before this piece: who misses some, or has them already, sees it. */
  at: number;
}

/** What passes over a {@link DeltaChannel}, as JSON: a piece, or the wish of somebody who came late to have them from the begin on. */
export type DeltaMessage = DeltaPiece | { type: 'asked' };

/**
 * Carries pieces of answers from the process that drives a session to those that follow it.
 *
 * Nothing depends on it: what it loses, a reader misses until the answer is committed. Messages are not stored, each is at most some
 * `maxDeltaBytes` of JSON, and they hold what models write for users: let nobody listen who may not read the session.
 */
export interface DeltaChannel {
  /**
   * Hands `message` to everybody who subscribed to `topic`, in every process, the publisher included; those of one publisher in order. While
   * the promise is pending no other message of the session is handed over by this process: pieces that come meanwhile become one.
   */
  publish(topic: DeltaTopic, message: DeltaMessage): void | Promise<void>;
  /**
   * From when it returns, or its promise resolves, until the function is called that it gives, `listener` is told of each message of
   * `topic`. The listener does not throw.
   */
  subscribe(topic: DeltaTopic, listener: (message: DeltaMessage) => void): Unsubscribe | Promise<Unsubscribe>;
}

/** Ends a subscription. Once it has returned, or its promise has resolved, nothing is left of it. */
export type Unsubscribe = () => void | Promise<void>;
