import type { SessionKey } from '../persistence/read-session.ts';
import { readTransitions, type StoredTransition } from '../persistence/read-transitions.ts';
import { readTurns, type StoredTurn } from '../persistence/read-turns.ts';
import { explainSession } from './explain/explain-session.ts';
import type { Explanation } from './explain/explanation.ts';
import { operate, type Services } from './services.ts';
import { readStatus, type SessionStatus } from './session-status.ts';

/** What can be read of one session, as it stands now. */
export abstract class SessionReader {
  readonly sessionId: string;
  readonly tenantId: string;
  readonly #services: Services;

  constructor(services: Services, { tenantId, sessionId }: SessionKey) {
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
   * What the session waits for and what unblocks it, for the person on call: see {@link Explanation}. It reads and takes no lock. One that this
   * build cannot open is explained by `runtime.explain`.
   *
   * @throws RUNTIME_CLOSED, DATABASE_UNREACHABLE.
   */
  async explain(): Promise<Explanation> {
    return operate(this.#services, () => explainSession(this.#services, this));
  }

  /**
   * Every turn, by index from 0 on. Each tool call has its tool turn before the next message; calls that are open have none yet.
   *
   * @throws RUNTIME_CLOSED, DATABASE_UNREACHABLE.
   */
  async history(): Promise<StoredTurn[]> {
    return operate(this.#services, async () => {
      return readTurns(this.#services.store, this);
    });
  }

  /** Every transition, by sequence from 1 on: the audit of the session. @throws RUNTIME_CLOSED, DATABASE_UNREACHABLE. */
  async transitions(): Promise<StoredTransition[]> {
    return operate(this.#services, async () => {
      return readTransitions(this.#services.store, this);
    });
  }
}
