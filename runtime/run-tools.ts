import type { OutcomeContent } from '../machines/event-content.ts';
import type { Effect } from '../machines/pending-effects.ts';
import type { AttemptResult, FailedAttempt, SessionEvent, StartedAttempt } from '../machines/session-event.ts';
import type { CommitResult } from '../persistence/commit-request.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { commitAsHolder, type DriveContext, databaseNow } from './drive-context.ts';
import { prepareStarts } from './prepare-starts.ts';
import { type AttemptBudget, type AttemptEnd, keepEnd, runAttempt } from './run-attempt.ts';
import { isRepeatable } from './tool-failure.ts';

/** The longest pause between two looks at what has happened, in milliseconds. */
const MAX_PAUSE_MS = 60_000;

type ToolEffect = Extract<Effect, { type: 'startExecution' | 'runAttempt' }>;

/** An attempt that ended in this process and whose end is not committed yet. */
interface Ended {
  row: ExecutionRow;
  end: Extract<AttemptEnd, { type: 'succeeded' | 'failed' | 'attemptFailed' }>;
}

/**
 * The tool half of a drive: which attempts this process has out, and what to commit next about the calls of the present turn.
 *
 * What is RUNNING and not out with this process is "started, no result": a former worker died with it, its time was over here, or its
 * tool said that it does not know. Then its effect class decides. `readOnly` and `idempotent` start again at once with the same key, a
 * bounded number of times; for the others the outcome is unknown once nobody can be at work on it any more, that is after the deadline
 * and the grace period, or at once where the tool itself came back and said that it does not know.
 */
export class ToolRunner {
  readonly #drive: DriveContext;
  /** The attempts whose start this drive commits, with the time that each has. */
  readonly #budgets = new Map<string, AttemptBudget>();
  readonly #inFlight = new Map<string, Promise<void>>();
  /** Attempts that ended here without an answer; with what their tool said of it. */
  readonly #lost = new Map<string, OutcomeContent | null>();
  #ended: Ended[] = [];
  /** What broke outside the tools themselves: the drive cannot go on. */
  #broken: { error: unknown } | null = null;

  constructor(drive: DriveContext) {
    this.#drive = drive;
  }

  /** Notes the starts that `event` commits. Called before the commit is sent, so that a budget ends no later than its deadline. */
  noteStarts(event: SessionEvent): void {
    const startedAt = this.#drive.environment.monotonic();
    for (const { executionId, attempt, timeoutMs } of startsOf(event)) {
      this.#budgets.set(attemptKey({ executionId, attempt }), { startedAt, timeoutMs });
    }
  }

  /** Runs what is committed as started, waits until there is something to commit, and commits it. `null`: the drive must stop. */
  async step(last: CommitResult, effects: ToolEffect[]): Promise<CommitResult | null> {
    const rows = new Map(last.executions.map((row) => [row.executionId, row]));
    const running = effects.filter((effect) => effect.type === 'runAttempt').map((effect) => rowOf(rows, effect));
    const queued = effects.filter((effect) => effect.type === 'startExecution').map((effect) => rowOf(rows, effect));
    for (const row of running) this.#launch(row);
    while (!this.#drive.signal.aborted) {
      if (this.#broken !== null) throw this.#broken.error;
      const orphans = running.filter((row) => !this.#isOut(row) && !this.#hasEnded(row));
      const due = queued.filter((row) => this.#retryInMs(row) <= 0);
      const event = this.#settle() ?? (await this.#nextEvent(orphans, due));
      if (event !== null) {
        this.noteStarts(event);
        return await this.#commit(event);
      }
      if (this.#drive.draining.aborted && this.#inFlight.size === 0) return null;
      const isIdle = orphans.length > 0 || queued.some((row) => !due.includes(row));
      await this.#somethingHappens(orphans, queued);
      if (this.#drive.draining.aborted || this.#ended.length > 0) continue;
      // Whoever runs an orphan may have ended it meanwhile, and others may have written: neither raises a version that we would hear of.
      if (isIdle) return { ...last, news: 1, evidence: 1 };
    }
    return null;
  }

  /** Resolves when no tool of this drive is out any more, however each ended. What could not be committed is kept as evidence. */
  async settled(): Promise<void> {
    await Promise.all(this.#inFlight.values());
    for (const { row, end } of this.#ended) keepEnd(this.#drive, row, end);
  }

  /** Ends that were not committed come back: they are facts all the same. */
  async #commit(event: SessionEvent): Promise<CommitResult> {
    const taken = event.type === 'tool.settled' || event.type === 'tool.attemptFailed' ? event.results : [];
    const isTaken = ({ row }: Ended) => taken.some((result) => attemptKey(result) === attemptKey(row));
    const ended = this.#ended;
    this.#ended = ended.filter((one) => !isTaken(one));
    try {
      return await commitAsHolder(this.#drive, event);
    } catch (error) {
      this.#ended.push(...ended.filter(isTaken));
      throw error;
    }
  }

  #launch(row: ExecutionRow): void {
    const key = attemptKey(row);
    const budget = this.#budgets.get(key);
    if (budget === undefined || this.#inFlight.has(key) || this.#hasEnded(row) || this.#lost.has(key)) return;
    const end = runAttempt(this.#drive, row, budget).then(
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
    if (end.type === 'timedOut') this.#lost.set(attemptKey(row), null);
    else if (end.type === 'unknown') this.#lost.set(attemptKey(row), end.content);
    else this.#ended.push({ row, end });
  }

  #isOut(row: ExecutionRow): boolean {
    return this.#inFlight.has(attemptKey(row));
  }

  #hasEnded(row: ExecutionRow): boolean {
    return this.#ended.some((ended) => attemptKey(ended.row) === attemptKey(row));
  }

  async #nextEvent(orphans: ExecutionRow[], due: ExecutionRow[]): Promise<SessionEvent | null> {
    return (
      this.#giveUp(orphans.filter(isRepeatable)) ??
      (await this.#start(orphans.filter(isRepeatable), due)) ??
      this.#leaveUnknown(orphans.filter((row) => !isRepeatable(row)))
    );
  }

  /** What has ended by now: all results in one event, then all failures that are tried again. */
  #settle(): SessionEvent | null {
    const results: AttemptResult[] = [];
    const failures: FailedAttempt[] = [];
    for (const { row, end } of this.#ended) {
      const { executionId, attempt } = row;
      const { content } = end;
      if (end.type === 'attemptFailed') failures.push({ executionId, attempt, retryInMs: end.retryInMs, content });
      else results.push({ executionId, attempt, outcome: end.type, content });
    }
    if (results.length > 0) return { type: 'tool.settled', results };
    return failures.length > 0 ? { type: 'tool.attemptFailed', results: failures } : null;
  }

  #giveUp(orphans: ExecutionRow[]): SessionEvent | null {
    const spent = orphans.filter((row) => row.attempt >= this.#maxAttempts(row));
    if (spent.length === 0) return null;
    const results = spent.map(({ executionId, attempt }) => ({
      executionId,
      attempt,
      outcome: 'timedOut' as const,
      content: { error: { code: 'TOOL_TIMED_OUT', message: `It was started ${attempt} times without an answer.` } },
    }));
    return { type: 'tool.settled', results };
  }

  #maxAttempts({ toolName }: ExecutionRow): number {
    return this.#drive.agent.tools.get(toolName)?.retry?.attempts ?? this.#drive.limits.maxToolAttempts;
  }

  /** The next attempts of repeatable orphans, and as many calls that are due as there are free slots. */
  async #start(orphans: ExecutionRow[], due: ExecutionRow[]): Promise<SessionEvent | null> {
    const { limits } = this.#drive;
    if (this.#drive.draining.aborted) return null;
    const slots = Math.max(0, limits.maxParallelTools - this.#inFlight.size - orphans.length);
    return prepareStarts(this.#drive, { orphans, due: due.slice(0, slots) });
  }

  #leaveUnknown(orphans: ExecutionRow[]): SessionEvent | null {
    const given = orphans.filter((row) => this.#reportOf(row) !== null || this.#overdueInMs(row) <= 0);
    const executions = given.map((row) => ({
      executionId: row.executionId,
      attempt: row.attempt,
      ...this.#reasonOf(row),
    }));
    return executions.length === 0 ? null : { type: 'tool.outcomeUnknown', executions };
  }

  #reasonOf(row: ExecutionRow) {
    const said = this.#lost.get(attemptKey(row));
    if (said === undefined) return { reason: 'crash' } as const;
    return said === null ? ({ reason: 'timeout' } as const) : ({ reason: 'reported', content: said } as const);
  }

  /** What the tool of an attempt that ended here said of its outcome, which it does not know; `null` where it said nothing. */
  #reportOf(row: ExecutionRow): OutcomeContent | null {
    return this.#lost.get(attemptKey(row)) ?? null;
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
    const overdue = orphans.filter((row) => !isRepeatable(row)).map((row) => this.#overdueInMs(row));
    const retries = queued.map((row) => this.#retryInMs(row)).filter((ms) => ms > 0);
    const isIdle = orphans.length > 0 || retries.length > 0;
    const lookMs = isIdle ? Math.min(limits.heartbeatMs, MAX_PAUSE_MS) : MAX_PAUSE_MS;
    const timer = environment.sleep(Math.min(...overdue, ...retries, lookMs), signal).catch(() => undefined);
    await Promise.race([...this.#inFlight.values(), timer]);
    over.abort();
  }
}

function startsOf(event: SessionEvent): StartedAttempt[] {
  if (event.type === 'execution.started') return event.executions;
  if (event.type !== 'model.calledTools') return [];
  return event.calls
    .filter((call) => call.verdict === 'start')
    .map(({ executionId, content }) => ({ executionId, attempt: 1, timeoutMs: content.timeoutMs }));
}

function rowOf(rows: Map<string, ExecutionRow>, { executionId }: ToolEffect): ExecutionRow {
  return rows.get(executionId) as ExecutionRow;
}

function attemptKey({ executionId, attempt }: { executionId: string; attempt: number }): string {
  return `${executionId}:${attempt}`;
}
