import type { ActDifference } from './compare-acts.ts';
import type { Difference } from './compare-history.ts';
import type { DriveFailure } from './rehearsal-worker.child.ts';

/** The least share of the kills that must have fallen inside a tool, for the rehearsal to have tried what it is for. */
export const MIN_INSIDE_SHARE = 0.2;

/** With fewer kills, chance decides about that share. */
export const MIN_KILLS_TO_JUDGE = 10;

/** What a rehearsal found. */
export interface RehearsalReport {
  /** Whether every claim held. */
  ok: boolean;
  /** Whether every conversation came to its end in time. */
  finished: boolean;
  seed: number;
  database: 'postgres' | 'pglite';
  sessions: { recorded: number; equal: number };
  turns: { recorded: number };
  toolCalls: { recorded: number; acts: number; invocations: number };
  kills: { total: number; insideTool: number };
  seconds: number;
  /** All of them; people are shown the first few. */
  differences: Difference[];
  actDifferences: ActDifference[];
  failures: DriveFailure[];
}

/** Whether enough of the kills fell inside a tool, or there were too few to tell. */
export function isInsideEnough({ total, insideTool }: RehearsalReport['kills']): boolean {
  return total < MIN_KILLS_TO_JUDGE || insideTool / total >= MIN_INSIDE_SHARE;
}

/** The report with its verdict. */
export function judge(report: Omit<RehearsalReport, 'ok'>): RehearsalReport {
  const { finished, sessions, differences, actDifferences, failures, kills } = report;
  const isEqual = sessions.equal === sessions.recorded && differences.length === 0 && actDifferences.length === 0;
  return { ok: finished && isEqual && failures.length === 0 && isInsideEnough(kills), ...report };
}
