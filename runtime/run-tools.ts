import type { OutcomeContent } from '../machines/event-content.ts';
import type { UnknownReason } from '../machines/execution-status.ts';
import type { Effect } from '../machines/pending-effects.ts';
import type { AttemptResult, FailedAttempt, SessionEvent, StartedAttempt } from '../machines/session-event.ts';
import type { CommitResult } from '../persistence/commit-request.ts';
import { type ExecutionRow, isWithChild } from '../persistence/row-changes.ts';
import { actOf, isTransactional } from './act-in-commit.ts';
import { childOf } from './agent-tool.ts';
import { checkStarts } from './check-starts.ts';
import { withChildren } from './describe-child.ts';
import { attemptKey, commitAsHolder, type DriveContext, databaseNow } from './drive-context.ts';
import { type Doubts, doubtsOf, failedResult, inDoubt } from './end-in-doubt.ts';
import { observeAttempt } from './observe.ts';
import { prepareStarts } from './prepare-starts.ts';
import { Reconciler } from './reconciler.ts';
import { type AttemptBudget, type AttemptEnd, keepEnd, runAttempt } from './run-attempt.ts';
import { isRepeatable } from './tool-failure.ts';
import { paramsToRun } from './upgrade-params.ts';

/** The longest pause between two looks at what has happened, in milliseconds. */
const MAX_PAUSE_MS = 60_000;

type ToolEffect = Extract<Effect, { type: 'startExecution' | 'runAttempt' }>;

/** An attempt that ended in this process and whose end is not committed yet. */
interface Ended {
  row: ExecutionRow;
  end: Extract<AttemptEnd, { type: 'succeeded' | 'failed' | 'attemptFailed' }>;
}

/** An attempt of which nothing says whether its call has acted. */
interface Lost {
  /** What its tool said of it; `null`: nothing. */
  said: OutcomeContent | null;
  /** How it failed, where an attempt before it may have acted. */
  failed?: OutcomeContent;
}

/**
 * The tool half of a drive: which attempts this process has out, and what to commit next about the calls of the present turn.
 *
 * What is RUNNING and not out with this process is "started, no result": a former worker died with it, its time was over here, or its
 * tool said that it does not know. Then its effect class decides. `readOnly` and `idempotent` start again at once with the same key, a
 * bounded number of times. Of the others something is decided once nobody can be at work on them any more, that is after the deadline and
 * the grace period, or at once where the tool itself came back and said that it does not know: `reconcilable` is asked, and what cannot
 * tell, as everything else, is unknown.
 */
export class ToolRunner {
  readonly #drive: DriveContext;
  readonly #reconciler: Reconciler;
  /** The attempts whose start this drive commits, with the time that each has. */
  readonly #budgets = new Map<string, AttemptBudget>();
  readonly #inFlight = new Map<string, Promise<void>>();
  /** Attempts that ended here without an answer. */
  readonly #lost = new Map<string, Lost>();
  #doubts: Doubts = new Map();
  #ended: Ended[] = [];
  /** What broke outside the tools themselves: the drive cannot go on. */
  #broken: { error: unknown } | null = null;

  constructor(drive: DriveContext) {
    this.#drive = drive;
    this.#reconciler = new Reconciler(drive);
  }

  /** Notes the starts that `event` commits. Called before the commit is sent, so that a budget ends no later than its deadline. */
  noteStarts(event: SessionEvent): void {
    const startedAt = this.#drive.environment.monotonic();
    for (const { executionId, attempt, timeoutMs } of startsOf(event)) {
      if (timeoutMs !== null) this.#budgets.set(attemptKey({ executionId, attempt }), { startedAt, timeoutMs });
    }
  }

  /**
   * Runs what is committed as started, waits until there is something to commit, and commits it. `null`: the drive must stop. `sleeps`: child
   * sessions are at work, and nothing else is.
   */
  async step(last: CommitResult, effects: ToolEffect[]): Promise<CommitResult | 'sleeps' | null> {
    this.#doubts = doubtsOf(last.session.snapshot);
    const rows = new Map(last.executions.map((row) => [row.executionId, row]));
    const running = effects.filter((effect) => effect.type === 'runAttempt').map((effect) => rowOf(rows, effect));
    const queued = effects.filter((effect) => effect.type === 'startExecution').map((effect) => rowOf(rows, effect));
    const withChild = running.filter(isWithChild);
    const acting = running.filter(isTransactional);
    const here = running.filter((row) => !isWithChild(row) && !isTransactional(row));
    for (const row of here) this.#launch(row);
    while (!this.#drive.signal.aborted) {
      if (this.#broken !== null) throw this.#broken.error;
      const orphans = here.filter((row) => !this.#isOut(row) && !this.#hasEnded(row));
      for (const row of orphans.filter(isReconcilable)) if (this.#isGiven(row)) this.#reconcile(row);
      const due = queued.filter((row) => this.#retryInMs(row) <= 0);
      const settled = this.#settle();
      if (settled === null && acting.length > 0 && !this.#drive.draining.aborted) return await this.#act(acting[0]!);
      const event = settled ?? this.#nextEvent(orphans, due, withChild.length);
      if (event !== null) {
        const checked = await this.#check(event, orphans, due);
        this.noteStarts(checked);
        return await this.#commit(checked, orphans.length > 0);
      }
      if (this.#drive.draining.aborted && this.#inFlight.size === 0) return null;
      const isFull = withChild.length >= this.#drive.limits.maxParallelTools;
      const isOut = orphans.length + acting.length + this.#inFlight.size > 0;
      if (withChild.length > 0 && !isOut && (queued.length === 0 || isFull)) return 'sleeps';
      const isIdle = orphans.length + withChild.length > 0 || queued.some((row) => !due.includes(row));
      await this.#somethingHappens([...orphans, ...withChild], queued);
      if (this.#drive.draining.aborted || this.#ended.length > 0) continue;
      // Whoever runs an orphan, or a child, may have ended it meanwhile, and others may have written: nothing raises a version that we would hear of.
      if (isIdle) return { ...last, news: 1, evidence: 1 };
    }
    return null;
  }

  /** Resolves when no tool of this drive is out any more, however each ended. What could not be committed is kept as evidence. */
  async settled(): Promise<void> {
    await Promise.all(this.#inFlight.values());
    for (const { row, end } of this.#ended) keepEnd(this.#drive, row, end);
  }

  /** Calls get params as today's tools take them, and those that had to wait are judged again, before they start. */
  async #check(event: SessionEvent, orphans: ExecutionRow[], due: ExecutionRow[]): Promise<SessionEvent> {
    if (event.type !== 'execution.started') return event;
    const prepared = await prepareStarts(this.#drive, event, { orphans, due, doubts: this.#doubts });
    if ('instead' in prepared) return prepared.instead;
    const starts = new Set(prepared.event.executions.map(({ executionId }) => executionId));
    const isNew = (row: ExecutionRow) => row.attempt === 0 && starts.has(row.executionId);
    const instead = await checkStarts(this.#drive, due.filter(isNew), prepared.ready);
    return instead ?? withChildren(this.#drive, prepared.event, [...orphans, ...due], prepared.ready);
  }

  /**
   * Commits `event`; where it may be about attempts of which nothing says how they ended, evidence that came meanwhile comes first. Ends
   * that were not committed come back: they are facts all the same.
   */
  async #commit(event: SessionEvent, yields: boolean): Promise<CommitResult> {
    const taken = event.type === 'tool.settled' || event.type === 'tool.attemptFailed' ? event.results : [];
    const isTaken = ({ row }: Ended) => taken.some((result) => attemptKey(result) === attemptKey(row));
    const ended = this.#ended;
    this.#ended = ended.filter((one) => !isTaken(one));
    try {
      const isGuess = yields && !ended.some(isTaken);
      return await commitAsHolder(this.#drive, isGuess ? { type: 'unlessEvidenced', event } : event);
    } catch (error) {
      this.#ended.push(...ended.filter(isTaken));
      throw error;
    }
  }

  /** A transactional tool acts inside the commit that settles it, one after the other. What was left RUNNING has done nothing: it is run. */
  async #act(row: ExecutionRow): Promise<CommitResult> {
    const { executionId, attempt, toolName } = row;
    const ready = await paramsToRun(this.#drive, this.#drive.agent.tools.get(toolName), row);
    return await commitAsHolder(this.#drive, {
      type: 'settleByActing',
      executionId,
      attempt,
      act: actOf(this.#drive, row, ready),
    });
  }

  #launch(row: ExecutionRow): void {
    const key = attemptKey(row);
    const budget = this.#budgets.get(key);
    if (budget === undefined || this.#inFlight.has(key) || this.#hasEnded(row) || this.#lost.has(key)) return;
    const end = observeAttempt(this.#drive, row, () => runAttempt(this.#drive, row, budget)).then(
      (ended) => this.#note(row, ended),
      (error: unknown) => {
        this.#broken = { error };
      },
    );
    this.#inFlight.set(
      key,
      end.finally(() => this.#inFlight.delete(key)),
    );
  }

  #note(row: ExecutionRow, end: AttemptEnd): void {
    if (end.type === 'abandoned') return;
    const lost = lostBy(row, end, this.#doubts.get(row.executionId));
    if (lost !== null) this.#lost.set(attemptKey(row), lost);
    else if (end.type !== 'timedOut' && end.type !== 'unknown') this.#ended.push({ row, end });
  }

  #isOut(row: ExecutionRow): boolean {
    return this.#inFlight.has(attemptKey(row));
  }

  #hasEnded(row: ExecutionRow): boolean {
    return this.#ended.some((ended) => attemptKey(ended.row) === attemptKey(row));
  }

  #nextEvent(orphans: ExecutionRow[], due: ExecutionRow[], children: number): SessionEvent | null {
    const again = orphans.filter((row) => isRepeatable(row) || this.#reconciler.isNotDone(row));
    return (
      this.#giveUp(orphans) ??
      this.#start(again, due, children) ??
      this.#leaveUnknown(orphans.filter((row) => !again.includes(row)))
    );
  }

  /** What has ended by now: all results in one event, then all failures that are tried again. */
  #settle(): SessionEvent | null {
    const results: AttemptResult[] = [];
    const failures: FailedAttempt[] = [];
    for (const { row, end } of this.#ended) {
      const { executionId, attempt } = row;
      const { content } = end;
      if (end.type === 'succeeded') results.push({ executionId, attempt, outcome: end.type, content });
      else if (end.type === 'failed') results.push(failedResult(row, content, this.#doubts.get(executionId)));
      else failures.push({ executionId, attempt, retryInMs: end.retryInMs, ...unknownOf(row, end), content });
    }
    if (results.length > 0) return { type: 'tool.settled', results };
    return failures.length > 0 ? { type: 'tool.attemptFailed', results: failures } : null;
  }

  /** Calls that are over although their last attempt did not come back: given up, or found out about. */
  #giveUp(orphans: ExecutionRow[]): SessionEvent | null {
    const reconciled = this.#reconciler.resultsOf(orphans, {
      maxAttempts: (row) => this.#maxAttempts(row),
      failed: (row) => this.#lost.get(attemptKey(row))?.failed ?? null,
    });
    const spent = orphans.filter((row) => isRepeatable(row) && row.attempt >= this.#maxAttempts(row));
    if (spent.length + reconciled.length === 0) return null;
    const results = spent.map(({ executionId, attempt }) => ({
      executionId,
      attempt,
      outcome: 'timedOut' as const,
      content: { error: { code: 'TOOL_TIMED_OUT', message: `It was started ${attempt} times without an answer.` } },
    }));
    return { type: 'tool.settled', results: [...reconciled, ...results] };
  }

  #maxAttempts({ toolName }: ExecutionRow): number {
    return this.#drive.agent.tools.get(toolName)?.retry?.attempts ?? this.#drive.limits.maxToolAttempts;
  }

  /** The next attempts of orphans that run again, and as many calls that are due as there are free slots. */
  #start(orphans: ExecutionRow[], due: ExecutionRow[], children: number): SessionEvent | null {
    const { limits } = this.#drive;
    if (this.#drive.draining.aborted) return null;
    const slots = Math.max(0, limits.maxParallelTools - this.#inFlight.size - orphans.length - children);
    const again = orphans.map((row) => ({ ...startOf(this.#drive, row), ...this.#beforeOf(row) }));
    const executions = [...again, ...due.slice(0, slots).map((row) => this.#startDue(row))];
    return executions.length === 0 ? null : { type: 'execution.started', executions };
  }

  /** What is known of the attempts before the next one of an orphan: it runs again since it may, or since it did not act. */
  #beforeOf(row: ExecutionRow): Pick<StartedAttempt, 'before'> {
    if (isReconcilable(row)) return { before: 'notDone' };
    return row.effect === 'readOnly' ? {} : { before: this.#reasonOf(row).reason };
  }

  /** What a person sends again may have acted; what failed or never started stays what it was. */
  #startDue(row: ExecutionRow): StartedAttempt {
    const started = startOf(this.#drive, row);
    return row.unknownReason === null ? started : { ...started, before: row.unknownReason };
  }

  #leaveUnknown(orphans: ExecutionRow[]): SessionEvent | null {
    const given = orphans.filter((row) =>
      isReconcilable(row) ? this.#reconciler.whyUnknown(row) !== null : this.#isGiven(row),
    );
    const executions = given.map((row) => ({
      executionId: row.executionId,
      attempt: row.attempt,
      ...this.#reasonOf(row),
    }));
    return executions.length === 0 ? null : { type: 'tool.outcomeUnknown', executions };
  }

  #reasonOf(row: ExecutionRow) {
    const lost = this.#lost.get(attemptKey(row));
    const reason = lost === undefined ? 'crash' : lost.said === null ? 'timeout' : 'reported';
    const content = this.#reconciler.whyUnknown(row) ?? lost?.said ?? null;
    return content === null ? ({ reason } as const) : ({ reason, content } as const);
  }

  /** Whether something may be decided about an orphan: nobody is at work on it any more, or its tool came back without an answer. */
  #isGiven(row: ExecutionRow): boolean {
    return this.#lost.get(attemptKey(row))?.said != null || this.#overdueInMs(row) <= 0;
  }

  #reconcile(row: ExecutionRow): void {
    this.#reconciler.ask(row, this.#overdueInMs(row) <= 0);
  }

  /** Milliseconds until nobody can be at work on `row`'s attempt any more. */
  #overdueInMs({ deadlineAt }: ExecutionRow): number {
    return (deadlineAt?.getTime() ?? 0) + this.#drive.limits.graceMs - databaseNow(this.#drive);
  }

  /** Milliseconds until the next attempt of a call may start. */
  #retryInMs({ retryAt }: ExecutionRow): number {
    return retryAt === null ? 0 : retryAt.getTime() - databaseNow(this.#drive);
  }

  /** Waits for an attempt to end, an orphan to be overdue or worth another look, a retry to be due, or the drive to be aborted or drained. */
  async #somethingHappens(orphans: ExecutionRow[], queued: ExecutionRow[]): Promise<void> {
    const { environment, limits, signal: ended, draining } = this.#drive;
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, ended, ...(this.#inFlight.size === 0 ? [draining] : [])]);
    const overdue = orphans
      .filter((row) => !isRepeatable(row) && !isWithChild(row))
      .map((row) => this.#overdueInMs(row))
      .filter((ms) => ms > 0);
    const retries = queued.map((row) => this.#retryInMs(row)).filter((ms) => ms > 0);
    const isIdle = orphans.length > 0 || retries.length > 0;
    const lookMs = isIdle ? Math.min(limits.heartbeatMs, MAX_PAUSE_MS) : MAX_PAUSE_MS;
    const timer = environment.sleep(Math.min(...overdue, ...retries, lookMs), signal).catch(() => undefined);
    await Promise.race([...this.#inFlight.values(), ...this.#reconciler.pending, timer]);
    over.abort();
  }
}

/** What an attempt leaves open that did not come back, does not know, or failed after one that may have acted and about which its tool can be asked. */
function lostBy(row: ExecutionRow, end: AttemptEnd, doubt: UnknownReason | undefined): Lost | null {
  if (end.type === 'timedOut') return { said: null };
  if (end.type === 'unknown') return { said: end.content };
  if (end.type !== 'failed' || doubt === undefined || !isReconcilable(row)) return null;
  return { said: inDoubt(row.attempt, end.content, doubt), failed: end.content };
}

function unknownOf({ effect }: ExecutionRow, { isUnknown }: { isUnknown: boolean }): Pick<FailedAttempt, 'unknown'> {
  return isUnknown && effect !== 'readOnly' ? { unknown: 'reported' } : {};
}

/** The start of the next attempt of a call: that of a child session has no deadline. */
function startOf({ agent, limits }: DriveContext, { executionId, attempt, toolName }: ExecutionRow): StartedAttempt {
  const tool = agent.tools.get(toolName);
  const timeoutMs = childOf(tool) === null ? (tool?.timeoutMs ?? limits.toolTimeoutMs) : null;
  return { executionId, attempt: attempt + 1, timeoutMs };
}

function startsOf(event: SessionEvent): StartedAttempt[] {
  if (event.type === 'execution.started') return event.executions;
  if (event.type !== 'model.calledTools') return [];
  return event.calls
    .filter((call) => call.verdict === 'start')
    .map(({ executionId, content }) => ({ executionId, attempt: 1, timeoutMs: content.timeoutMs }));
}

function isReconcilable({ effect }: ExecutionRow): boolean {
  return effect === 'reconcilable';
}

function rowOf(rows: Map<string, ExecutionRow>, { executionId }: ToolEffect): ExecutionRow {
  return rows.get(executionId) as ExecutionRow;
}
