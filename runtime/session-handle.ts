import { isTurnlockError, TurnlockError } from '../errors.ts';
import { isResting } from '../machines/session-state.ts';
import {
  type CallerTransaction,
  checkCallerTransaction,
  enqueueInTransaction,
} from '../persistence/caller-transaction.ts';
import type { CommitRequest, CommitResult } from '../persistence/commit-request.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import type { Decided } from '../persistence/decide-approval.ts';
import { forkSession } from '../persistence/fork/fork-session.ts';
import { messageDigest, type NewMessage, type WhenBusy } from '../persistence/inbox.ts';
import { eventIdFromMessageId } from '../persistence/keys/event-id-from-message-id.ts';
import type { LeaseClaim } from '../persistence/lease.ts';
import { readSession } from '../persistence/read-session-by-key.ts';
import { checkUuid } from '../persistence/values/check-uuid.ts';
import type { Asking } from './awaited.ts';
import { type ApproveOptions, checkApproval, checkDenial, type DenyOptions } from './check-decision.ts';
import { checkFork, type ForkOptions } from './check-fork.ts';
import { checkMessage, checkWhenBusy, checkWho, SEND_OPTIONS, type SendOptions } from './check-message.ts';
import { checkOptions } from './check-options.ts';
import { checkSettlement, reasonContent, type Settlement, settledEvent, whyNotSettled } from './check-settlement.ts';
import { takeOver } from './continue-session.ts';
import { fitSettlement } from './fit-settlement.ts';
import type { Drive } from './live-sessions.ts';
import { lookAtSleeper } from './look-at-children.ts';
import { notFailed } from './not-failed.ts';
import { observeSending } from './observe.ts';
import { expireInput } from './recover.ts';
import { handedOver, restOfRun, resultOfCommit } from './rest-of-run.ts';
import { createLaterRun, createRun, type Run } from './run.ts';
import type { RunResult } from './run-event.ts';
import { checkAgent, checkOpen, operate, type Services } from './services.ts';
import { SessionOperating } from './session-operating.ts';

type Committable = Pick<CommitRequest, 'event' | 'cause' | 'claim'> & Partial<CommitRequest>;

/**
 * One durable conversation of one agent. Handles are cheap, hold no connection, and may exist many times for one session. `Output` is
 * what the agent's `output` validates to.
 */
export class Session<Output = unknown> extends SessionOperating {
  readonly #services: Services;
  /** The session as this handle saw it last; every commit reads it anew. */
  #seen: CommittedSession;

  constructor(services: Services, session: CommittedSession) {
    super(services, session);
    this.#services = services;
    this.#seen = session;
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
      checkAgent(this.#services, this.#seen);
      const { environment, limits } = this.#services.store;
      const content = checkMessage(text, checkOptions(options, 'send', SEND_OPTIONS), limits);
      const whenBusy = checkWhenBusy(options.whenBusy);
      const { messageId = null, transaction } = options;
      const given = transaction === undefined ? null : checkCallerTransaction(transaction);
      const runId = environment.uuid();
      const sent = await observeSending(this.#services, this.#seen, content, async (stored) => {
        const message = { runId, messageId, content: stored };
        if (given !== null) return this.#sendIn(given, message, whenBusy);
        const request = {
          eventId: messageId === null ? environment.uuid() : eventIdFromMessageId(messageId),
          cause: 'user' as const,
          event: { type: 'sendMessage', message, whenBusy } as const,
          claim: this.#acquire(),
          contentDigest: messageDigest(content),
        };
        return whenBusy === 'reject' ? this.#commitOnceFree(request) : this.#commit(request);
      });
      return 'transition' in sent ? this.#afterMessage(sent, runId) : sent;
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
      checkAgent(this.#services, this.#seen);
      const { environment } = this.#services.store;
      const by = checkWho(checkOptions(options, 'retry', ['by']).by ?? 'operator');
      const event = { type: 'session.retried', runId: environment.uuid(), by } as const;
      const committed = this.#commit({ event, cause: 'operator', claim: this.#acquire() });
      return this.#begin(await committed.catch((error: unknown) => Promise.reject(notFailed(this, error))));
    });
  }

  /**
   * Settles a call that waits for a person, or whose outcome is unknown, and goes on. The decision is durable once this resolves, and who
   * made it stands in the audit. `runAgain` runs the call again with the same key.
   *
   * Where the policy named approvers for the call, only they settle it, whether it waits for approval or nothing says how it ended: `roles`
   * are held against them.
   *
   * A call that was given up (TIMED_OUT: its run was cancelled, or its attempts are used up) may still be settled as succeeded or failed. Its
   * business key is answered or freed then, and the model hears of it by a system turn before its next answer.
   *
   * @returns the run that follows; it rests at once while other calls still wait.
   * @throws APPROVER_NOT_ALLOWED. APPROVAL_DECIDED, APPROVAL_STALE when the question of `approvalId` is not open any more, or none about this call.
   * @throws EXECUTION_NOT_FOUND when the session has no such call, EXECUTION_SETTLED when somebody was first, EXECUTION_RUNNING while an
   * attempt is under way, SESSION_BUSY for one that was given up while calls of a later turn are open, OUTCOME_INVALID for an outcome that is none, or an output that the tool's `outputSchema` does not take.
   * @throws AGENT_UNKNOWN, AGENT_VERSION_MISMATCH when this build cannot go on with the session; nothing is written then.
   * @throws VALUE_INVALID, VALUE_TOO_LARGE when id, output or reason cannot be stored.
   */
  async settle(executionId: string, settlement: Settlement): Promise<Run<Output>> {
    return operate(this.#services, async () => {
      checkAgent(this.#services, this.#seen);
      const checked = checkSettlement(settlement, this.#services.store.limits);
      const id = checkUuid(executionId, 'executionId');
      const event = settledEvent(id, await fitSettlement(this.#services, this.#seen, id, checked));
      const result = await this.#commit({ event, cause: 'operator', claim: { type: 'none' } }).catch(
        async (error: unknown) => {
          if (!isTurnlockError(error, 'EVENT_ILLEGAL')) throw error;
          throw await whyNotSettled(this.#services.store, this, id, error, checked.outcome);
        },
      );
      return this.#goOn(result);
    });
  }

  /**
   * Lets a call run that waits for approval, with the params that the model gave or with others, and goes on. The decision is durable once
   * this resolves, and is used once: the call starts when nobody else is asked about a call of its turn, and only if the tool's policy of
   * that moment lets it. The same decision by the same person again changes nothing.
   *
   * With other `params` the call has an idempotency key of its own, its row shows them and who gave them, and the model is told.
   *
   * @returns the run that follows; it rests at once while somebody else is asked.
   * @throws EXECUTION_NOT_FOUND, APPROVAL_NOT_ASKED when nobody is asked about that call. APPROVAL_DECIDED when somebody was first: who, what
   * and when stand in its details. APPROVAL_EXPIRED when the time for it is over. APPROVAL_STALE for another `digest`. APPROVER_NOT_ALLOWED.
   * @throws PARAMS_INVALID for params that the tool does not accept, or that its schema would convert a second time; POLICY_DENIED,
   * POLICY_FAILED for those that its policy does not let run; KEY_CONFLICT for those of another call of the turn.
   * @throws AGENT_UNKNOWN, AGENT_VERSION_MISMATCH when this build cannot go on with the session; with `drive: false` only where it has other params.
   * @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE, RUNTIME_CLOSED, DATABASE_UNREACHABLE, COMMIT_UNKNOWN; repeating it does no harm.
   */
  async approve(executionId: string, options: ApproveOptions): Promise<Run<Output>> {
    return operate(this.#services, async () => {
      if (this.#services.drives) checkAgent(this.#services, this.#seen);
      return this.#decide(await checkApproval(this.#services, this.#seen, executionId, options));
    });
  }

  /**
   * Refuses a call that waits for approval, and goes on: it fails without having run, and the model is told the reason. Durable once this
   * resolves. The same decision by the same person again changes nothing.
   *
   * @returns the run that follows; it rests at once while somebody else is asked.
   * @throws what {@link Session.approve} throws, but for what concerns params.
   */
  async deny(executionId: string, options: DenyOptions): Promise<Run<Output>> {
    return operate(this.#services, async () => {
      if (this.#services.drives) checkAgent(this.#services, this.#seen);
      return this.#decide(checkDenial(this.#services.store.limits, executionId, options));
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
      const read = await readSession(this.#services.store, this);
      this.#seen = read.session;
      return read.session.snapshot.context.runId === null ? null : this.#goOn(read);
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

  /**
   * Copies the history up to the turn `atTurn` into a new session of the same tenant, user and agent; durable once this resolves. Without
   * `atTurn`, up to the last turn at which every call has its tool turn. The fork is IDLE, takes messages, and has an audit of its own that
   * begins with `session.forked`. This session may be in any state and at work; nothing of it changes.
   *
   * Copied calls are shown with their outcomes and never run again: their executions are marked, have keys of their own, no claim, no approval
   * and no cost. Business keys within a session (`once: { per: 'session' }`) count anew in the fork; those within the tenant do not.
   *
   * `externalId` is that of the fork; the same one again returns that fork. `metadata` defaults to this session's. `by` defaults to `operator`.
   *
   * @throws FORK_TURN_INVALID when there is no such turn, or a call up to it has its tool turn later or not yet: the message names the nearest
   * turns. EXTERNAL_ID_CONFLICT when another session has the external id.
   * @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE, RUNTIME_CLOSED, DATABASE_UNREACHABLE, COMMIT_UNKNOWN.
   */
  async fork(options: ForkOptions = {}): Promise<Session<Output>> {
    return operate(this.#services, async () => {
      const { store } = this.#services;
      const { tenantId, sessionId } = this;
      const fork = {
        origin: { tenantId, sessionId },
        sessionId: store.environment.uuid(),
        ...checkFork(store, options),
      };
      return new Session<Output>(this.#services, await forkSession(store, fork));
    });
  }

  #acquire(): LeaseClaim {
    const { store, holder, drives, build } = this.#services;
    if (!drives) return { type: 'none' };
    return { type: 'acquire', holder, leaseMs: store.limits.leaseMs, build };
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
    if (transition.event.type === 'approval.superseded') await this.#goOn(result);
    if (session.state === 'IDLE') live.next(this.#services, session);
    return run;
  }

  #begin(result: CommitResult): Run<Output> {
    const { sessionId, runId } = { ...this, runId: (result.transition.event as { runId?: string }).runId ?? '' };
    const { repeated } = result;
    if (repeated || !this.#services.drives || isResting(result.session.state)) return this.#follow(runId, repeated);
    const drive = this.#services.live.start(this.#services, result);
    return this.#runOf(drive, { runId, sessionId, repeated });
  }

  async #decide(decided: Decided): Promise<Run<Output>> {
    const event = { type: 'decideApproval', decided } as const;
    const request = { event, cause: 'operator', claim: { type: 'none' } } as const;
    const result = await this.#commit(request).catch(async (error: unknown) => {
      if (isTurnlockError(error, 'APPROVAL_EXPIRED')) await this.#expire();
      throw error;
    });
    return this.#goOn(result);
  }

  /** Nobody else may look for a while: what has expired is settled by whoever notices. */
  async #expire(): Promise<void> {
    const { session, now, ...open } = await readSession(this.#services.store, this);
    await this.#goOn({ session: await expireInput(this.#services, session, now), ...open });
  }

  async #goOn(result: Asking): Promise<Run<Output>> {
    const runId = result.session.snapshot.context.runId ?? '';
    if (isResting(result.session.state) || !this.#services.drives) return this.#follow(runId, false);
    // What waits for its children is not held by anybody; it goes on when one of them ends.
    const sleep = await lookAtSleeper(this.#services, result);
    if (sleep !== null && sleep.type !== 'woken') return this.#follow(runId, false);
    // While a sibling call is still out, its worker holds the lease and goes on from this commit.
    const taken = await takeOver(this.#services, result.session).catch((error: unknown) => {
      if (isTurnlockError(error, 'LEASE_HELD') || isTurnlockError(error, 'EVENT_ILLEGAL')) return null;
      throw error;
    });
    if (taken === null || isResting(taken.session.state)) return this.#follow(runId, false);
    const drive = this.#services.live.start(this.#services, taken);
    return this.#runOf(drive, { runId, sessionId: this.sessionId, repeated: false });
  }

  /** A run that is driven here: its events are seen until it rests, also where it sleeps meanwhile and is driven again. */
  #runOf({ feed, ended }: Drive, facts: { runId: string; sessionId: string; repeated: boolean }): Run<Output> {
    feed.isFollowed = true;
    const settled = this.#resultOf(ended, facts.runId);
    void settled.catch(() => undefined).finally(() => this.#services.live.forget(facts.runId, feed));
    return createRun(facts, feed, settled);
  }

  /** A run that began elsewhere or earlier, or begins later; where this process drives it then, its events are seen. */
  #follow(runId: string, repeated: boolean): Run<Output> {
    const { live } = this.#services;
    const drive = live.driveOf(this.sessionId);
    const facts = { runId, sessionId: this.sessionId, repeated };
    const isHere = drive?.runId === runId;
    const feed = isHere ? drive.feed : live.expect(runId);
    feed.isFollowed = true;
    const settled = restOfRun(this.#services, this, runId) as Promise<RunResult<Output>>;
    void settled.catch(() => undefined).finally(() => live.forget(runId, feed));
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
