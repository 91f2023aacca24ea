import { type Replay, replaySession, type Verification, verifySession } from '../persistence/audit/verify-session.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import { readTransitions, type StoredTransition, type TransitionsQuery } from '../persistence/read-transitions.ts';
import { readTurns, type StoredTurn, type TurnsQuery } from '../persistence/read-turns.ts';
import { checkFollow, checkHistory, checkTransitions } from './check-query.ts';
import { explainSession } from './explain/explain-session.ts';
import type { Explanation } from './explain/explanation.ts';
import { follow } from './follow-session.ts';
import type { Followed, FollowOptions } from './followed.ts';
import { checkOpen, operate, type Services } from './services.ts';
import { readStatus, type SessionStatus } from './session-status.ts';

/** What can be read of a session. None of it writes, takes a lock, or needs the session's agent. */
export class SessionReading {
  readonly sessionId: string;
  readonly tenantId: string;
  readonly #services: Services;

  constructor(services: Services, { sessionId, tenantId }: SessionKey) {
    this.#services = services;
    this.sessionId = sessionId;
    this.tenantId = tenantId;
  }

  /** The session as it stands now, read from the database. @throws RUNTIME_CLOSED, DATABASE_UNREACHABLE, SNAPSHOT_INVALID. */
  async status(): Promise<SessionStatus> {
    return operate(this.#services, async () => {
      return readStatus(this.#services.store, this);
    });
  }

  /**
   * What the session waits for and what unblocks it, for the person on call: see {@link Explanation}. One that cannot be opened is explained
   * by `runtime.explain`.
   *
   * @throws SESSION_NOT_FOUND when it was deleted. RUNTIME_CLOSED, DATABASE_UNREACHABLE.
   */
  async explain(): Promise<Explanation> {
    return operate(this.#services, () => explainSession(this.#services, this));
  }

  /**
   * The turns, by index from 0 on. Each tool call has its tool turn before the next message; calls that are open have none yet. `from`: only
   * those of this index and later ones; `limit`: how many at the most, a whole number from 1 to 1000. Default: all of them, in memory.
   *
   * @throws OPTIONS_INVALID, RUNTIME_CLOSED, DATABASE_UNREACHABLE.
   */
  async history(page: TurnsQuery = {}): Promise<StoredTurn[]> {
    return operate(this.#services, async () => {
      return readTurns(this.#services.store, this, checkHistory(page));
    });
  }

  /**
   * The committed transitions of later sequence than `after`, those of now and those to come, each once and in order, whichever process
   * commits them: at once those of this one, the others within 200 ms. With `deltas: true` also what models write, where this process
   * drives the session: pieces of an attempt stand after the transition that it began from, and before the one that ends it; an attempt
   * that was given up is `voided`. It reads and drives nothing, and holds no connection while it waits. A reader that is slow is waited for.
   *
   * Ends when `signal` aborts, and when the runtime closes. It may be called again with the last sequence that was seen.
   *
   * @throws OPTIONS_INVALID, RUNTIME_CLOSED at once. DATABASE_UNREACHABLE when the database stays away.
   */
  follow(options: FollowOptions = {}): AsyncGenerator<Followed, void> {
    const { after, signal, deltas } = checkFollow(options);
    const services = this.#services;
    checkOpen(services);
    const { closing } = services;
    const ends = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    return follow(services, this, { after, deltas, signal: ends });
  }

  /**
   * The transitions, by sequence from 1 on: the audit of the session. `after`: only those of later sequence; `limit`: how many at the most,
   * a whole number from 1 to 1000. Default: all of them, in memory.
   *
   * @throws OPTIONS_INVALID, RUNTIME_CLOSED, DATABASE_UNREACHABLE.
   */
  async transitions(page: TransitionsQuery = {}): Promise<StoredTransition[]> {
    return operate(this.#services, async () => {
      return readTransitions(this.#services.store, this, checkTransitions(page));
    });
  }

  /**
   * Folds the recorded events through the machine of their version and compares every state, and the snapshot, with the rows. It runs nothing
   * and writes nothing; what it finds is data. Works in every build, also for a session that this one could not drive.
   *
   * @throws SESSION_NOT_FOUND when it was deleted. RUNTIME_CLOSED, DATABASE_UNREACHABLE.
   */
  async replay(): Promise<Replay> {
    return operate(this.#services, async () => {
      return replaySession(this.#services.store, this);
    });
  }

  /**
   * Verifies the audit: the chain of hashes, every payload, turn and outcome against its digest, and the fold of {@link SessionReading.replay}. Page by
   * page, without a lock; it writes nothing, and what it finds is data. Payloads that were erased are told, and are nothing wrong.
   *
   * @throws SESSION_NOT_FOUND when it was deleted. RUNTIME_CLOSED, DATABASE_UNREACHABLE.
   */
  async verify(): Promise<Verification> {
    return operate(this.#services, async () => {
      return verifySession(this.#services.store, this);
    });
  }
}
