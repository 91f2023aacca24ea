import type { TurnlockError } from '../errors.ts';
import type { CommitRequest, CommitResult } from './commit-request.ts';

/** What a commit took. */
export interface CommitTiming {
  /** Milliseconds from the first try on. */
  durationMs: number;
  /** Milliseconds until the lock was held, of the last try. */
  lockWaitMs: number;
  tries: number;
}

/** Told of what commits come to. Nothing of it may throw. */
export interface CommitObserver {
  committed(result: CommitResult, timing: CommitTiming): void;
  refused(request: CommitRequest, error: TurnlockError, timing: CommitTiming): void;
}
