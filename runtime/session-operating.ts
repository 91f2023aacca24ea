import { type Actor, createActor, type InspectionEvent, type Observer } from 'xstate';
import type { SessionKey } from '../persistence/read-session.ts';
import { readSession } from '../persistence/read-session-by-key.ts';
import { checkWho } from './check-message.ts';
import { checkOptions } from './check-options.ts';
import { leaseReleased, releasing } from './release-lease.ts';
import { checkOpen, operate, type Services } from './services.ts';
import { type ActedSession, type SessionLogic, sessionLogic } from './session-actor.ts';
import { SessionReading } from './session-reading.ts';

/** What a person beside the conversation does with a session. None of it needs the session's agent. */
export class SessionOperating extends SessionReading {
  readonly #services: Services;

  constructor(services: Services, key: SessionKey) {
    super(services, key);
    this.#services = services;
  }

  /**
   * Takes the session from the worker that holds it: from one that hangs, or of which you know that it is gone before its lease says so.
   * Durable once this resolves, and who did it stands in the audit. Whatever that worker still does is refused; a tool that it has out may
   * still be at work, and is treated as one of a worker that died. Then any worker goes on, or `resume`. `by` defaults to
   * `operator`.
   *
   * @returns whether anybody held it; else nothing is written.
   * @throws VALUE_INVALID, VALUE_TOO_LARGE when `by` cannot be stored. RUNTIME_CLOSED, DATABASE_UNREACHABLE, COMMIT_UNKNOWN; repeating it does no harm.
   */
  async release(options: { by?: string } = {}): Promise<boolean> {
    return operate(this.#services, async () => {
      const by = checkWho(checkOptions(options, 'release', ['by']).by ?? 'operator');
      const { session } = await readSession(this.#services.store, this);
      if (session.leaseHolder === null) return false;
      const eventId = this.#services.store.environment.uuid();
      const { tenantId, sessionId } = this;
      const request = { ...releasing(by), eventId, tenantId, sessionId };
      await this.#services.live.use(this.#services, session, (actor) => actor.commit(request));
      // Not waited for: what hangs may never come to its end.
      this.#services.live.driveOf(this.sessionId)?.abort(leaseReleased(this.sessionId));
      return true;
    });
  }

  /**
   * An XState actor of the session, which is started: `getSnapshot`, `subscribe`, `send`, `on`, `waitFor(actor, …)`, and `inspect` as for
   * `createActor`. Its snapshot is the session as last seen committed, whoever drives it; `value` is its state, `null` until it was read. What
   * it is sent goes to the session's methods, in order; what is refused is emitted as `event.refused`. It is done once the session is COMPLETED.
   *
   * `stop` it when nobody looks any more: nothing of the session stops with it. Many actors of one session may run at once. To invoke sessions
   * from a machine of your own, see `runtime.sessionLogic`.
   */
  actor(
    this: SessionOperating & ActedSession,
    options: { inspect?: Observer<InspectionEvent> | ((event: InspectionEvent) => void) } = {},
  ): Actor<SessionLogic<SessionKey>> {
    const { inspect } = checkOptions(options, 'actor', ['inspect']);
    checkOpen(this.#services);
    const logic = sessionLogic<SessionKey>(this.#services, async () => this);
    const { sessionId, tenantId } = this;
    return createActor(logic, {
      id: sessionId,
      input: { sessionId, tenantId },
      ...(inspect ? { inspect } : {}),
    }).start();
  }
}
