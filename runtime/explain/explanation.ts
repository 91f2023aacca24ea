import type { UnknownReason } from '../../machines/execution-status.ts';
import type { SessionState } from '../../machines/session-state.ts';
import type { Awaiting } from '../../persistence/list-awaiting.ts';
import type { SessionKey } from '../../persistence/read-session.ts';

/**
 * A command line, word by word. What only a person knows stands in capitals (`WHO`, `REASON`, `OUTPUT_AS_JSON`); where the database is found
 * is not in it.
 */
export type CommandWords = readonly string[];

/** What unblocks a session. */
export interface Unblocking {
  /** In one sentence. */
  unblockedBy: string;
  /** Each one way; empty where it goes on by itself. */
  commands: readonly CommandWords[];
}

/** A call that a session waits for. */
export interface WaitingCall {
  executionId: string;
  toolName: string;
  idempotencyKey: string;
}

/** A freeze or a budget that keeps a call from beginning. */
export interface HoldingControl {
  controlId: string;
  kind: 'freeze' | 'budget';
  /** `null`: every tool. */
  toolName: string | null;
  reason: string | null;
}

/** What is known of each kind of waiting. */
export interface WaitingFacts {
  /** IDLE, and nothing is owed. */
  message: object;
  /** The model is being asked. */
  model: { attempt: number; since: Date };
  /** The last attempt of the model call failed, with `error`; the next one has its time. */
  modelRetry: { attempt: number; retryAt: Date; error: string | null };
  /** A tool is at work. `deadlineAt`: when its attempt ends at the latest. */
  tool: WaitingCall & { attempt: number; deadlineAt: Date | null };
  /** The last attempt of a call failed, with `error`; the next one has its time. */
  toolRetry: WaitingCall & { attempt: number; retryAt: Date | null; error: string | null };
  /** A call begins when another one has ended: no more may be out at once. */
  slot: WaitingCall;
  /** Another agent does the call; `waitsFor` is what its session waits for. `state` is `null` where there is none. */
  child: WaitingCall & { childSessionId: string; state: SessionState | null; waitsFor: Waiting[] };
  /** A person is to say whether a call may run. */
  approval: { asked: Awaiting };
  /** A person is to say whether a call may run that is frozen. */
  frozen: { asked: Awaiting; controls: HoldingControl[] };
  /** A person is to say whether a call may run that is over budget. */
  overBudget: { asked: Awaiting; controls: HoldingControl[] };
  /** A person is asked since a build could not run the call. */
  unrunnable: { asked: Awaiting; problem: { code: string; message: string } };
  /** The agent has asked its user. */
  answer: { asked: Awaiting };
  /** A call was started, and nothing says how it ended. */
  unknown: { asked: Awaiting; reason: UnknownReason | null };
  /** Whoever holds the session gave no sign of life for as long as two heartbeats take. */
  lease: { holder: string; expiresAt: Date; heartbeatAt: Date };
  /** Work is owed and nobody is at it. `dueAt`: since when. */
  worker: { dueAt: Date; lastHolder: string | null };
  /** A newer build has gone on with it, or this build has no such agent. */
  stranded: { by: 'machine' | 'agent' | 'tool' | 'unknownAgent' };
  /** No build can read it. */
  quarantined: { problem: { code: string; message: string } };
  /** The last run FAILED, with `code`. `messages` wait behind it. */
  failed: { code: string; error: string | null; messages: number };
}

/** The name of something that a session waits for. */
export type WaitingKind = keyof WaitingFacts;

/** What a session waits for, and what unblocks it. */
export type Waiting = { [Kind in WaitingKind]: { kind: Kind } & WaitingFacts[Kind] & Unblocking }[WaitingKind];

/** How a session stands, for the person on call. Times are the database's. */
export interface Explanation extends SessionKey {
  state: SessionState;
  /** When it came into this state. */
  since: Date;
  userId: string;
  externalId: string | null;
  agent: string;
  agentVersion: number;
  version: number;
  runId: string | null;
  /** The call of another session that this one answers. */
  parent: { sessionId: string; executionId: string } | null;
  /** What it waits for, that which has to go first first; empty where it is COMPLETED. */
  waitsFor: Waiting[];
  /**
   * Who acts for it. `heartbeatAt` is the last sign of life, as it follows from `expiresAt` and this runtime's `limits.leaseMs`.
   */
  lease: { holder: string; expiresAt: Date; heartbeatAt: Date; isLive: boolean } | null;
  /** When it is looked at again; `null`: not before something comes. */
  wakeAt: Date | null;
  /** Takeovers from workers that died, in this run; with one more than `bound` it fails. */
  recoveries: { used: number; bound: number };
  /** Messages that wait in the inbox, and since when the oldest does. */
  inbox: { waiting: number; since: Date | null };
  /** The database's time of all this. */
  now: Date;
}
