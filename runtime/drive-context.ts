import type { RunTelemetry } from '../adapters/telemetry/telemetry.contract.ts';
import type { Environment } from '../environment.ts';
import type { TurnlockError } from '../errors.ts';
import type { Limits } from '../limits.ts';
import type { CommitRequest, CommitResult } from '../persistence/commit-request.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import type { LateResult } from '../persistence/evidence.ts';
import type { PersistenceActor } from '../persistence/persistence-actor.ts';
import type { Store } from '../persistence/session-transaction.ts';
import type { CountTokens } from './context/count-tokens.ts';
import type { Agent } from './define-agent.ts';
import type { SessionMemory } from './memory/session-memory.ts';
import type { RunEvent } from './run-event.ts';
import type { RunScratchpad } from './working-state/run-scratchpad.ts';

/** What the effects of one session work with while this process drives it. */
export interface DriveContext {
  store: Store;
  environment: Environment;
  limits: Limits;
  agent: Agent;
  /** Counts for the agent's budget; `null` where it has none. */
  countTokens: CountTokens | null;
  actor: PersistenceActor;
  /** Name of this runtime in leases. */
  holder: string;
  /** The fencing token under which this drive acts. */
  token: number;
  session: CommittedSession;
  /** The database's time at the last commit, and the monotonic reading when its answer came. */
  clock: { databaseMs: number; monotonicMs: number };
  /** Aborts when the run is cancelled, the lease is lost, or the runtime closes. */
  signal: AbortSignal;
  /** Aborts when the runtime closes: model calls stop, as they can be made again; tools that are out come to their end. */
  draining: AbortSignal;
  /** Told of what the drive does; `null` where the host wants no telemetry. */
  watch: RunTelemetry | null;
  /** What the tools of the run keep for each other. */
  scratchpad: RunScratchpad;
  emit(event: RunEvent): void;
  /** Keeps what a tool returned too late to be committed, as evidence. Never rejects. */
  keep(late: Omit<LateResult, 'evidenceId' | 'token'>): void;
  /** What is remembered of the session's user. */
  memory: SessionMemory;
  /** Notes that the session is to be summarised up to a turn, and begins. Nothing waits for it, and it never rejects. */
  oweSummary(upToTurn: number): void;
  /** Aborts `signal`: what is out stops, and is not committed. */
  stop(reason: TurnlockError): void;
}

/** Milliseconds of the database's clock now, never ahead of it: the last commit's time plus what has passed since its answer. */
export function databaseNow({ clock, environment }: DriveContext): number {
  return clock.databaseMs + (environment.monotonic() - clock.monotonicMs);
}

/** One attempt of one execution, as a name. */
export function attemptKey({ executionId, attempt }: { executionId: string; attempt: number }): string {
  return `${executionId}:${attempt}`;
}

/** Commits `event` as the holder of the lease. */
export async function commitAsHolder(
  drive: DriveContext,
  event: CommitRequest['event'],
  eventId: string = drive.environment.uuid(),
): Promise<CommitResult> {
  const { tenantId, sessionId } = drive.session;
  const { holder, token } = drive;
  const claim = { type: 'hold', holder, token, leaseMs: drive.limits.leaseMs } as const;
  const result = await drive.actor.commit({ tenantId, sessionId, eventId, cause: 'worker', event, claim });
  drive.clock = { databaseMs: result.now.getTime(), monotonicMs: drive.environment.monotonic() };
  return result;
}
