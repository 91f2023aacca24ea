import type { Limits } from '../../../limits.ts';
import type { TranscriptSource } from './read-transcripts.ts';

/** What every process of one rehearsal is told. */
export interface RehearsalSetup {
  source: TranscriptSource;
  /** A PostgreSQL URL, or the directory of an embedded database. */
  database: string;
  /** A tenant of its own for each rehearsal, so that one database can hold many. */
  tenantId: string;
  /** Port of the process that plays the outside world. */
  port: number;
  /** Conversations under way at the same time. */
  parallel: number;
}

/** Name of the agent that speaks the recorded answers. */
export const REHEARSAL_AGENT = 'rehearsal';

/**
 * Bounds of a rehearsal. A dead worker is noticed within a second, and what a run in production must not do for ever (lose its worker,
 * repeat a tool, ask the model) has no bound here: the kills are ours, and a recording may be long.
 */
export const REHEARSAL_LIMITS: Partial<Limits> = {
  leaseMs: 1_000,
  graceMs: 500,
  sweepMs: 250,
  toolTimeoutMs: 10_000,
  maxRecoveries: 1_000_000,
  maxToolAttempts: 1_000_000,
  maxModelCallsPerRun: 1_000_000,
  maxTokensPerRun: 1_000_000_000_000,
  maxToolCallsPerRun: 1_000_000,
  maxToolCallsPerTurn: 1_000_000,
};
