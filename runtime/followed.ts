import type { StoredTransition } from '../persistence/read-transitions.ts';

/** What is seen of a session that is followed. */
export type Followed =
  | { type: 'transition'; transition: StoredTransition }
  | {
      /** A piece of an answer that is being written, in this process or one with which `deltas` of `createRuntime` shares them. Never stored. */
      type: 'delta';
      kind: 'text' | 'reasoning';
      text: string;
      attempt: number;
      runId: string;
    }
  | {
      /** The attempt was given up, or its pieces came faster than they were read: what was shown of it counts for nothing. */
      type: 'voided';
      attempt: number;
      runId: string;
    };

/** What `follow` takes. */
export interface FollowOptions {
  /** Only transitions of later sequence. Default 0: from the first one on. */
  after?: number;
  /** Ends it. Default: it ends with the loop. */
  signal?: AbortSignal;
  /** Whether pieces of answers are shown that are being written. Default false. */
  deltas?: boolean;
}
