import { isTurnlockError, TurnlockError } from '../errors.ts';
import type { Json } from '../machines/event-content.ts';
import { isResting, type SessionState } from '../machines/session-state.ts';
import {
  type CallerTransaction,
  checkCallerTransaction,
  enqueueInTransaction,
} from '../persistence/caller-transaction.ts';
import type { CommitRequest, CommitResult } from '../persistence/commit-request.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import { messageDigest, type NewMessage, type WhenBusy } from '../persistence/inbox.ts';
import { eventIdFromMessageId } from '../persistence/keys/event-id-from-message-id.ts';
import type { LeaseClaim } from '../persistence/lease.ts';
import { readSession } from '../persistence/read-session-by-key.ts';
import { readTransitions, type StoredTransition } from '../persistence/read-transitions.ts';
import { readTurns, type StoredTurn } from '../persistence/read-turns.ts';
import { checkUuid } from '../persistence/values/check-uuid.ts';
import { awaitedOf } from './awaited.ts';
import { checkMessage, checkWhenBusy, checkWho, SEND_OPTIONS, type SendOptions } from './check-message.ts';
import { checkOptions } from './check-options.ts';
import { checkSettlement, reasonContent, type Settlement, whyNotSettled } from './check-settlement.ts';
import { takeOver } from './continue-session.ts';
import { awaitedOfChildren, lookAtSleeper } from './look-at-children.ts';
import { handedOver, restOfRun, resultOfCommit } from './rest-of-run.ts';
import { createLaterRun, createRun, type Run } from './run.ts';
import type { AwaitedExecution, RunResult } from './run-event.ts';
import { agentOf, checkOpen, operate, type Services } from './services.ts';

/** A session as it stands now. Times are those of the database, cut to milliseconds. */
export interface SessionStatus {
  state: SessionState;
  /** The run that is under way, waits for a person, or ended last; `null` before the first message. */
  runId: string | null;
  /** The sequence of the last transition; 0 for a session that has none. */
  version: number;
  /** What a person is asked, in call order, by this session where it is AWAITING_INPUT, and by children below it. */
  awaiting: AwaitedExecution[];
  /** The call of another session that this one answers; `null` where it is nobody's child. */
  parent: { sessionId: string; executionId: string } | null;
  userId: string;
  /** Name of the agent. */
  agent: string;
  /** The caller's id; `null` when none was given. */
  externalId: string | null;
  /** As given to `createSession`; empty when none was. */
  metadata: { [name: string]: Json };
  createdAt: Date;
  /** When the last transition was committed. */
  updatedAt: Date;
}

type Committable = Pick<CommitRequest, 'event' | 'cause' | 'claim'> & Partial<CommitRequest>;

/**
 * One durable conversation of one agent. Handles are cheap, hold no connection, and may exist many times for one session. `Output` is
 * what the agent's `output` validates to.
 */
export class Session<Output = unknown> {
  readonly sessionId: string;
  readonly tenantId: string;
  readonly #services: Services;
  /** The session as this handle saw it last; every commit reads it anew. */
  #seen: CommittedSession;

  constructor(services: Services, session: CommittedSession) {
    this.#services = services;
    this.#seen = session;
    this.sessionId = session.sessionId;
    this.tenantId = session.tenantId;
  }

  /**
   * Sends a user message. Once this resolves it is durable, and its run goes on, in this process as long as it lives, and by a worker or
   * `recover` of any other one after that.
   *
   * Where the session is IDLE and nothing waits, the run begins at once. Where a run is under way, a person is asked, or messages wait,
   * `whenBusy` decides: by default the message waits for its turn, and its run begins when those before it are done.
   *
   * With a `messageId` that the session has seen, nothing is written: the run of then is returned.
   *
   * With `transaction` the message is only put into the inbox, in that transaction, without lock or version.
   *
   * @throws SESSION_BUSY with `whenBusy: 'reject'` when the message cannot begin a run now. LIMIT_WAITING_MESSAGES when too many wait.
   * @throws SESSION_COMPLETED when the session is final. EVENT_ILLEGAL when its last run FAILED: see {@link Session.retry}.
   * @throws MESSAGE_CONFLICT when the message id was used for another content. AGENT_UNKNOWN, AGENT_VERSION_MISMATCH when this build cannot
   * drive the session.
   * @throws VALUE_INVALID, VALUE_TOO_LARGE when text or metadata cannot be stored. OPTIONS_INVALID for another `whenBusy`.
   * @throws RUNTIME_CLOSED, DATABASE_UNREACHABLE, COMMIT_UNKNOWN; after the last, repeat with the same `messageId`.
   */
  async send(text: string, options: SendOptions = {}): Promise<Run<Output>> {
    return operate(this.#services, async () => {
      agentOf(this.#services, this.#seen);
      const { environment, limits } = this.#services.store;
      const content = checkMessage(text, checkOptions(options, 'send', SEND_OPTIONS), limits);
      const whenBusy = checkWhenBusy(options.whenBusy);
      const { messageId = null, transaction } = options;
      const message = { runId: environment.uuid(), messageId, content };
      if (transaction !== undefined) return this.#sendIn(checkCallerTransaction(transaction), message, whenBusy);
      const request = {
        eventId: messageId === null ? environment.uuid() : eventIdFromMessageId(messageId),
        cause: 'user' as const,
        event: { type: 'sendMessage', message, whenBusy } as const,
        claim: this.#acquire(),
        contentDigest: messageDigest(content),
      };
      const result = await (whenBusy === 'reject' ? this.#commitOnceFree(request) : this.#commit(request));
      return this.#afterMessage(result, message.runId);
    });
  }

  /**
   * Begins a new run from the history of a session that FAILED; durable once this resolves. It counts model calls and recoveries anew.
   * `by` defaults to `operator`.
   *
   * @throws EVENT_ILLEGAL in any other state. AGENT_UNKNOWN, AGENT_VERSION_MISMATCH when this build cannot drive it.
   * @throws RUNTIME_CLOSED, DATABASE_UNREACHABLE, COMMIT_UNKNOWN; after the last, look at the state first.
   */
  async retry(options: { by?: string } = {}): Promise<Run<Output>> {
    return operate(this.#services, async () => {
      agentOf(this.#services, this.#seen);
      const { environment } = this.#services.store;
      const by = checkWho(checkOptions(options, 'retry', ['by']).by ?? 'operator');
      const event = { type: 'session.retried', runId: environment.uuid(), by } as const;
      return this.#begin(await this.#commit({ event, cause: 'operator', claim: this.#acquire() }));
    });
  }

  /**
   * Settles a call that waits for a person, or whose outcome is unknown, and goes on. The decision is durable once this resolves, and who
   * made it stands in the audit. `runAgain` runs the call again with the same key.
   *
   * @returns the run that follows; it rests at once while other calls still wait.
   * @throws EXECUTION_NOT_FOUND when the session has no such call, EXECUTION_SETTLED when somebody was first, EXECUTION_RUNNING while an
   * attempt is under way, OUTCOME_INVALID for an outcome that is none.
   * @throws AGENT_UNKNOWN, AGENT_VERSION_MISMATCH when this build cannot go on with the session; nothing is written then.
   * @throws VALUE_INVALID, VALUE_TOO_LARGE when id, output or reason cannot be stored.
   */
  async settle(executionId: string, settlement: Settlement): Promise<Run<Output>> {
    return operate(this.#services, async () => {
      agentOf(this.#services, this.#seen);
      const { outcome, by, content } = checkSettlement(settlement, this.#services.store.limits);
      const id = checkUuid(executionId, 'executionId');
      const event = { type: 'execution.settledByPerson', executionId: id, outcome, by, content } as const;
      const result = await this.#commit({ event, cause: 'operator', claim: { type: 'none' } }).catch(
        async (error: unknown) => {
          if (!isTurnlockError(error, 'EVENT_ILLEGAL')) throw error;
          throw await whyNotSettled(this.#services.store, this, id, error);
        },
      );
      return this.#goOn(result);
    });
  }

  /**
   * The run that is under way, waits for a person, or ended last; `null` before the first message. It begins nothing, but a run whose
   * process died is taken over and goes on here, as its events show.
   *
   * @throws AGENT_UNKNOWN, AGENT_VERSION_MISMATCH when this build cannot go on with it. RUNTIME_CLOSED, DATABASE_UNREACHABLE,
   * COMMIT_UNKNOWN; repeating it does no harm.
   */
  async resume(): Promise<Run<Output> | null> {
    return operate(this.#services, async () => {
      const { session, executions } = await readSession(this.#services.store, this);
      this.#seen = session;
      return session.snapshot.context.runId === null ? null : this.#goOn({ session, executions });
    });
  }

  /**
   * Cancels the run that is under way or waits. Calls that never started are closed as not done; those that were started are closed as
   * unknown, and the model is told so. Their AbortSignal fires, in another process at its next heartbeat. Without a run nothing happens.
   *
   * Once this resolves the run is over, durably; the message that waits longest begins the next one. A tool that does not heed its signal
   * may still be at work; what it returns is kept as evidence, and the model is told. `by` defaults to `user`; `reason` is what the model is
   * told beside the outcome.
   *
   * @throws RUNTIME_CLOSED, DATABASE_UNREACHABLE, COMMIT_UNKNOWN; repeating it does no harm.
   * @throws VALUE_INVALID, VALUE_TOO_LARGE when `by` or `reason` cannot be stored.
   */
  async cancel(options: { by?: string; reason?: string } = {}): Promise<void> {
    return operate(this.#services, async () => {
      const by = checkWho(checkOptions(options, 'cancel', ['by', 'reason']).by ?? 'user');
      const reason = options.reason ?? 'The run was cancelled.';
      const content = reasonContent('RUN_CANCELLED', reason, this.#services.store.limits);
      const event = { type: 'run.cancelled', by, content } as const;
      const result = await this.#commit({ event, cause: 'user', claim: { type: 'raise' } }).catch((error: unknown) => {
        if (isTurnlockError(error, 'EVENT_ILLEGAL')) return null;
        throw error;
      });
      if (result === null) return;
      await this.#stopDrive();
      if (result.waiting > 0) this.#services.live.next(this.#services, result.session);
    });
  }

  /** A run that was cancelled stops here too. */
  async #stopDrive(): Promise<void> {
    const drive = this.#services.live.driveOf(this.sessionId);
    drive?.abort(new TurnlockError('RUN_CANCELLED', { message: `run was cancelled: session ${this.sessionId}` }));
    await drive?.ended.catch(() => null);
  }

  /**
   * Ends the session for good: durable once this resolves, and it takes no message any more. Messages that wait are refused, each for
   * itself; the runs that they would have begun say so. `by` defaults to `user`.
   *
   * @throws EVENT_ILLEGAL unless it is IDLE or FAILED. RUNTIME_CLOSED, DATABASE_UNREACHABLE, COMMIT_UNKNOWN.
   * @throws VALUE_INVALID, VALUE_TOO_LARGE when `by` cannot be stored.
   */
  async complete(options: { by?: string } = {}): Promise<void> {
    return operate(this.#services, async () => {
      const by = checkWho(checkOptions(options, 'complete', ['by']).by ?? 'user');
      const request = { event: { type: 'completeSession', by }, cause: 'user', claim: { type: 'none' } } as const;
      for (let last = ''; last !== 'session.completed'; ) last = (await this.#commit(request)).transition.event.type;
    });
  }

  /** The session as it stands now, read from the database. @throws RUNTIME_CLOSED, DATABASE_UNREACHABLE, SNAPSHOT_INVALID. */
  async status(): Promise<SessionStatus> {
    return operate(this.#services, async () => {
      const { session, executions } = await readSession(this.#services.store, this);
      const { state, version, userId, agentName: agent, externalId, metadata, createdAt, updatedAt } = session;
      const { runId } = session.snapshot.context;
      return {
        state,
        runId,
        version,
        awaiting: [
          ...awaitedOf(session, executions),
          ...(await awaitedOfChildren(this.#services.store, this, executions)),
        ],
        parent: session.parent,
        userId,
        agent,
        externalId,
        metadata,
        createdAt,
        updatedAt,
      };
    });
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

  #acquire(): LeaseClaim {
    const { store, holder, drives } = this.#services;
    if (!drives) return { type: 'none' };
    return { type: 'acquire', holder, leaseMs: store.limits.leaseMs };
  }

  async #commit(request: Committable): Promise<CommitResult> {
    checkOpen(this.#services);
    const { tenantId, sessionId } = this;
    const eventId = this.#services.store.environment.uuid();
    const result = await this.#services.live.use(this.#services, this.#seen, (actor) =>
      actor.commit({ eventId, ...request, tenantId, sessionId }),
    );
    this.#seen = result.session;
    return result;
  }

  /** A message that is to be refused where the session is busy: if its worker is gone, its run is brought to rest first. */
  async #commitOnceFree(request: Committable): Promise<CommitResult> {
    try {
      return await this.#commit(request);
    } catch (error) {
      if (!isTurnlockError(error, 'SESSION_BUSY')) throw error;
      const { session } = await readSession(this.#services.store, this);
      if (isResting(session.state) || !this.#services.drives) throw error;
      if (!(await this.#recoverFirst(session))) throw error;
      return this.#commit(request);
    }
  }

  /** `false` when its worker is alive after all. */
  async #recoverFirst(session: CommittedSession): Promise<boolean> {
    try {
      const taken = await takeOver(this.#services, session);
      if (!isResting(taken.session.state)) await this.#services.live.start(this.#services, taken).ended;
      return true;
    } catch (error) {
      if (isTurnlockError(error, 'LEASE_HELD')) return false;
      throw error;
    }
  }

  /** The run of a message, whatever its commit came to: begun, waiting, or known before. */
  async #afterMessage(result: CommitResult, runId: string): Promise<Run<Output>> {
    const { repeated, transition, session } = result;
    if (repeated || transition.event.type === 'user.messaged') return this.#begin(result);
    const { live } = this.#services;
    const run = this.#follow(runId, false);
    if (transition.event.type === 'run.cancelled') await this.#stopDrive();
    if (session.state === 'IDLE') live.next(this.#services, session);
    return run;
  }

  #begin(result: CommitResult): Run<Output> {
    const { sessionId, runId } = { ...this, runId: (result.transition.event as { runId?: string }).runId ?? '' };
    const { repeated } = result;
    if (repeated || !this.#services.drives) return this.#follow(runId, repeated);
    const drive = this.#services.live.start(this.#services, result);
    return createRun({ runId, sessionId, repeated }, drive.feed, this.#resultOf(drive.ended, runId));
  }

  async #goOn(result: Pick<CommitResult, 'session' | 'executions'>): Promise<Run<Output>> {
    const runId = result.session.snapshot.context.runId ?? '';
    if (isResting(result.session.state) || !this.#services.drives) return this.#follow(runId, false);
    // What waits for its children is not held by anybody; it goes on when one of them ends.
    const sleep = await lookAtSleeper(this.#services, result.session, result.executions);
    if (sleep !== null && sleep.type !== 'woken') return this.#follow(runId, false);
    // While a sibling call is still out, its worker holds the lease and goes on from this commit.
    const taken = await takeOver(this.#services, result.session).catch((error: unknown) => {
      if (isTurnlockError(error, 'LEASE_HELD') || isTurnlockError(error, 'EVENT_ILLEGAL')) return null;
      throw error;
    });
    if (taken === null || isResting(taken.session.state)) return this.#follow(runId, false);
    const drive = this.#services.live.start(this.#services, taken);
    return createRun(
      { runId, sessionId: this.sessionId, repeated: false },
      drive.feed,
      this.#resultOf(drive.ended, runId),
    );
  }

  /** A run that began elsewhere or earlier, or begins later; where this process drives it then, its events are seen. */
  #follow(runId: string, repeated: boolean): Run<Output> {
    const { live } = this.#services;
    const drive = live.driveOf(this.sessionId);
    const facts = { runId, sessionId: this.sessionId, repeated };
    const isHere = drive?.runId === runId;
    const feed = isHere ? drive.feed : live.expect(runId);
    const settled = restOfRun(this.#services, this, runId) as Promise<RunResult<Output>>;
    if (!isHere) void settled.catch(() => undefined).finally(() => live.forget(runId, feed));
    return createRun(facts, feed, settled);
  }

  async #sendIn(transaction: CallerTransaction, message: NewMessage, whenBusy: WhenBusy): Promise<Run<Output>> {
    const { runId, repeated } = await enqueueInTransaction(transaction, this, message, whenBusy);
    return createLaterRun({ runId, sessionId: this.sessionId, repeated }, () => this.#follow(runId, repeated));
  }

  async #resultOf(ended: Promise<CommitResult | null>, runId: string): Promise<RunResult<Output>> {
    const last = await ended;
    if (last === null && this.#services.closing.aborted) throw handedOver(runId);
    return ((last && resultOfCommit(last, runId)) ??
      (await restOfRun(this.#services, this, runId))) as RunResult<Output>;
  }
}
