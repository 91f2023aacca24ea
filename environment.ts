import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * The places where a test can let a process crash, stall, lose its connection or run into a time-out. A closed list:
 * - `beforeBegin`: a commit is about to open its transaction;
 * - `afterLock`: it holds the session's lock and has read nothing yet;
 * - `afterStatement`: after each further statement;
 * - `beforeCommit`: everything is written, COMMIT is not sent;
 * - `commitSent`: COMMIT is sent, its answer has not been looked at;
 * - `afterCommit`: the answer is there, nobody was told;
 * - `beforeEffect`, `insideEffect`, `afterEffect`: around a model call or a tool execution; of a transactional tool inside its
 *   commit, which `detail` tells;
 * - `beforeEvidence`: a late result is about to be recorded;
 * - `beforeHeartbeat`: a lease is about to be extended.
 */
export const FAULT_POINTS = [
  'beforeBegin',
  'afterLock',
  'afterStatement',
  'beforeCommit',
  'commitSent',
  'afterCommit',
  'beforeEffect',
  'insideEffect',
  'afterEffect',
  'beforeEvidence',
  'beforeHeartbeat',
] as const;

/** One of {@link FAULT_POINTS}. */
export type FaultPoint = (typeof FAULT_POINTS)[number];

/** {@link FaultInfo.detail} of the points around an effect that is part of a commit. */
export const INSIDE_COMMIT = 'insideCommit';

/** What a fault point tells of where it stands. */
export interface FaultInfo {
  sessionId?: string;
  executionId?: string;
  /** The statement that ran, without its parameters. */
  statement?: string;
  /** Whatever else tells one passage from another, for example the type of the event. */
  detail?: string;
}

/** All that is not determined by input and database: clock, ids, chance, waiting, faults. */
export interface Environment {
  /** Wall clock, milliseconds since 1970. For people only: leases, deadlines and expiries go by the database's clock. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes back, is not moved by clock changes. For budgets. */
  monotonic(): number;
  /** A new random UUID, in lower case. */
  uuid(): string;
  /** A number from 0 inclusive to 1 exclusive. Not for secrets. */
  random(): number;
  /**
   * Resolves after `ms` milliseconds (0 or less: in a later turn of the event loop). It keeps the process alive: end it with `signal`.
   *
   * @throws the signal's reason as soon as `signal` aborts; at once when it is aborted already. The timer is gone then.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Called at each of {@link FAULT_POINTS}. Whatever it throws is what happens there. */
  faultPoint(point: FaultPoint, info: FaultInfo): Promise<void> | void;
}

/** A timer holds no longer time: beyond it Node fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The real one: the machine's clocks, random ids, inert fault points. */
export const systemEnvironment: Environment = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  uuid: () => randomUUID(),
  random: () => Math.random(),
  sleep,
  faultPoint: () => undefined,
});

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const end = performance.now() + ms;
  try {
    for (let left = ms; ; left = end - performance.now()) {
      await wait(Math.min(Math.max(left, 0), MAX_TIMER_MS), undefined, { signal });
      if (left <= MAX_TIMER_MS) return;
    }
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}
