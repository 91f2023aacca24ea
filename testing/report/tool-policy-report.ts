import type { TimelineEntry } from '../play/timeline.ts';

/** What a check found: JSON as it is. */
export interface ToolPolicyReport {
  ok: boolean;
  /** Runs that were played until it ended; those that shrink a failure do not count. */
  runs: number;
  /** Gives the same runs again. */
  seed: number;
  /** `null`: nothing was found. */
  failure: ToolPolicyFailure | null;
}

/** A run that breaks an invariant, as short as it was found. */
export interface ToolPolicyFailure {
  /** Name of the invariant, in words. */
  invariant: string;
  /** What was seen. */
  message: string;
  /** The run, one command after the other, as text for people. */
  commands: readonly string[];
  /** What happened, across the processes and in the outside world. */
  timeline: readonly TimelineEntry[];
  /** The option `replay` that plays this run alone. */
  replay: string;
  /** Folder in which the database is kept as this run left it, where that was asked for; `null`: it is not kept. */
  kept: string | null;
  /** All of it as text for people. */
  text: string;
}
