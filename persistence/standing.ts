import type { TurnlockError } from '../errors.ts';
import type { EffectClass, ExecutionStatus, UnknownReason } from '../machines/execution-status.ts';
import type { SessionState } from '../machines/session-state.ts';
import type { SessionSnapshot } from '../machines/snapshot-codec.ts';
import type { Stranded } from './list-sessions.ts';
import type { RoundKind } from './project-rounds.ts';
import type { SessionKey } from './read-session.ts';

/** A call that is open by its row, or that the session's snapshot names. */
export interface StandingCall {
  executionId: string;
  toolName: string;
  status: ExecutionStatus;
  attempt: number;
  effect: EffectClass;
  deadlineAt: Date | null;
  retryAt: Date | null;
  unknownReason: UnknownReason | null;
  idempotencyKey: string;
  /** Why it cannot run in the build that held it, or how its last attempt failed. */
  errorCode: string | null;
  errorMessage: string | null;
  /** Whether a session says that it is the child which answers the call. */
  hasChildSession: boolean;
}

/** A round of asking that nobody has answered. */
export interface StandingRound {
  executionId: string;
  kind: RoundKind;
  requestedAt: Date;
  expiresAt: Date | null;
  isAnnounced: boolean;
  /** Freezes and budgets because of which it is asked. */
  controls: string[];
}

/** What waits in a session's inbox. */
export interface StandingInbox {
  /** Messages that were not refused. */
  waiting: number;
  /** When the oldest of them came. */
  since: Date | null;
  /** When the oldest came that no commit of the session noted. */
  newsSince: Date | null;
  /** When the parent said that it gave the run up, where nobody did anything about it. */
  givenUpSince: Date | null;
}

/** How a session stands, read in one statement: what is owed, by whom, and since when. */
export interface Standing extends SessionKey {
  agent: string;
  agentVersion: number;
  machineVersion: number;
  state: SessionState;
  version: number;
  token: number;
  leaseHolder: string | null;
  leaseExpiresAt: Date | null;
  recoveries: number;
  wakeAt: Date | null;
  updatedAt: Date;
  /** `null` where this build cannot read it: then `problem` says why. */
  snapshot: SessionSnapshot | null;
  problem: TurnlockError | null;
  /** What of it is newer than the build that it was compared with. */
  stranded: Stranded | null;
  calls: StandingCall[];
  rounds: StandingRound[];
  inbox: StandingInbox;
  turns: { count: number; lastIndex: number | null };
  transitions: { count: number; lastSequence: number; lastState: string | null; lastToken: number };
  /** Evidence that no commit has taken and that could be taken now or later. */
  evidenceSince: Date | null;
  /** The database's time. */
  now: Date;
}
