import type { TimelineEntry } from '../play/timeline.ts';
import type { PlayedPolicy } from './played-policy.ts';
import type { PlayedTools } from './played-tools.ts';

/** What {@link checkToolPolicy} found: JSON as it is. */
export interface ToolPolicyReport extends CheckReport {
  /** What these runs really came to: a tool that never ran breaks nothing. */
  played: PlayedTools;
}

/** What {@link checkPolicy} found: JSON as it is. */
export interface PolicyReport extends CheckReport {
  /** What these runs really came to: a policy that lets nothing run breaks nothing. */
  played: PlayedPolicy;
}

/** What the reports of all checks say. */
export interface CheckReport {
  ok: boolean;
  /** Runs that were played until it ended; those that shrink a failure do not count. */
  runs: number;
  /** Gives the same runs again. */
  seed: number;
  /** `null`: nothing was found. */
  failure: ToolPolicyFailure | null;
  /** All of it as text for people: of a failure its text; else what was played, with what never ran in the first line. */
  text: string;
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
