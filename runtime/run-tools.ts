import type { UnknownReason } from '../machines/execution-status.ts';
import type { Effect } from '../machines/pending-effects.ts';
import type { AttemptResult, SessionEvent, StartedAttempt } from '../machines/session-event.ts';
import type { CommitResult } from '../persistence/commit-request.ts';
import { type ExecutionRow, isWithChild } from '../persistence/row-changes.ts';
import { childOf } from './agent-tool.ts';
import { describeAcceptedChild } from './describe-child.ts';
import { commitAsHolder, type DriveContext, databaseNow } from './drive-context.ts';
import { type AttemptBudget, runAttempt } from './run-attempt.ts';

/** The longest pause between two looks at what has happened, in milliseconds. */
const MAX_PAUSE_MS = 60_000;

type ToolEffect = Extract<Effect, { type: 'startExecution' | 'runAttempt' }>;

/**
 * The tool half of a drive: which attempts this process has out, and what to commit next about the calls of the present turn.
 *
 * What is RUNNING and not out with this process is "started, no result": a former worker died with it, or its time was over here.
 * Then its effect class decides. `readOnly` and `idempotent` start again at once with the same key, a bounded number of times; for
 * the others the outcome is unknown once nobody can be at work on it any more, that is after the deadline and the grace period, or
 * at once where the tool itself came back and said that it does not know.
 */
export class ToolRunner {
  readonly #drive: DriveContext;
  /** The attempts whose start this drive commits, with the time that each has. */
  readonly #budgets = new Map<string, AttemptBudget>();
  readonly #inFlight = new Map<string, Promise<void>>();
  /** Attempts that ran out of time here. */
  readonly #timedOut = new Set<string>();
  /** Attempts whose tool said that it does not know whether it acted. */
  readonly #reported = new Set<string>();
  #results: AttemptResult[] = [];
  /** What broke outside the tools themselves: the drive cannot go on. */
  #broken: { error: unknown } | null = null;

  constructor(drive: DriveContext) {
    this.#drive = drive;
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
    const rows = new Map(last.executions.map((row) => [row.executionId, row]));
    const running = effects.filter((effect) => effect.type === 'runAttempt').map((effect) => rowOf(rows, effect));
    const queued = effects.filter((effect) => effect.type === 'startExecution').map((effect) => rowOf(rows, effect));
    const withChild = running.filter(isWithChild);
    const here = running.filter((row) => !isWithChild(row));
    for (const row of here) this.#launch(row);
    while (!this.#drive.signal.aborted) {
      if (this.#broken !== null) throw this.#broken.error;
      const orphans = here.filter((row) => !this.#isOut(row) && !this.#hasResult(row));
      const event = this.#nextEvent(orphans, queued, withChild.length);
      if (event !== null) {
        this.noteStarts(event);
        return await this.#commit(event);
      }
      if (this.#drive.draining.aborted && this.#inFlight.size === 0) return null;
      if (withChild.length > 0 && orphans.length + this.#inFlight.size === 0) return 'sleeps';
      await this.#somethingHappens(orphans, withChild.length > 0);
      if (this.#drive.draining.aborted || this.#results.length > 0) continue;
      // Whoever runs an orphan, or a child, may have ended it meanwhile, and others may have written: nothing raises a version that we would hear of.
      if (orphans.length + withChild.length > 0) return { ...last, news: 1, evidence: 1 };
    }
    return null;
  }

  /** Resolves when no tool of this drive is out any more, however each ended. What could not be committed is kept as evidence. */
  async settled(): Promise<void> {
    await Promise.all(this.#inFlight.values());
    for (const { executionId, attempt, outcome, content } of this.#results) {
      if (outcome !== 'timedOut') this.#drive.keep({ executionId, attempt, outcome, content });
    }
  }

  /** Results that were not committed come back: they are facts all the same. */
  async #commit(event: SessionEvent): Promise<CommitResult> {
    try {
      return await commitAsHolder(this.#drive, event);
    } catch (error) {
      if (event.type === 'tool.settled') this.#results.push(...event.results);
      throw error;
    }
  }

  #launch(row: ExecutionRow): void {
    const key = attemptKey(row);
    const budget = this.#budgets.get(key);
    if (budget === undefined || this.#inFlight.has(key) || this.#hasResult(row) || this.#isLost(key)) return;
    const { executionId, attempt } = row;
    const end = runAttempt(this.#drive, row, budget).then(
      (ended) => {
        if (ended.type === 'timedOut') this.#timedOut.add(key);
        if (ended.type === 'unknown') this.#reported.add(key);
        if (ended.type === 'succeeded' || ended.type === 'failed') {
          this.#results.push({ executionId, attempt, outcome: ended.type, content: ended.content });
        }
      },
      (error: unknown) => {
        this.#broken = { error };
      },
    );
    this.#inFlight.set(
      key,
      end.finally(() => this.#inFlight.delete(key)),
    );
  }

  #isOut(row: ExecutionRow): boolean {
    return this.#inFlight.has(attemptKey(row));
  }

  #hasResult(row: ExecutionRow): boolean {
    return this.#results.some((result) => attemptKey(result) === attemptKey(row));
  }

  #isLost(key: string): boolean {
    return this.#timedOut.has(key) || this.#reported.has(key);
  }

  #nextEvent(orphans: ExecutionRow[], queued: ExecutionRow[], children: number): SessionEvent | null {
    return (
      this.#settle() ??
      this.#giveUp(orphans.filter(isRepeatable)) ??
      this.#start(orphans.filter(isRepeatable), queued, children) ??
      this.#leaveUnknown(orphans.filter((row) => !isRepeatable(row)))
    );
  }

  /** Every result that has come in by now, in one event. */
  #settle(): SessionEvent | null {
    if (this.#results.length === 0) return null;
    const results = this.#results;
    this.#results = [];
    return { type: 'tool.settled', results };
  }

  #giveUp(orphans: ExecutionRow[]): SessionEvent | null {
    const { maxToolAttempts } = this.#drive.limits;
    const spent = orphans.filter((row) => row.attempt >= maxToolAttempts);
    if (spent.length === 0) return null;
    const content = {
      error: { code: 'TOOL_TIMED_OUT', message: `It was started ${maxToolAttempts} times without an answer.` },
    };
    const results = spent.map(({ executionId, attempt }) => ({
      executionId,
      attempt,
      outcome: 'timedOut' as const,
      content,
    }));
    return { type: 'tool.settled', results };
  }

  /** The next attempts of repeatable orphans, and as many queued calls as there are free slots. */
  #start(orphans: ExecutionRow[], queued: ExecutionRow[], children: number): SessionEvent | null {
    const { limits } = this.#drive;
    if (this.#drive.draining.aborted) return null;
    const slots = Math.max(0, limits.maxParallelTools - this.#inFlight.size - orphans.length - children);
    const executions = [...orphans, ...queued.slice(0, slots)].map((row) => startOf(this.#drive, row));
    return executions.length === 0 ? null : { type: 'execution.started', executions };
  }

  #leaveUnknown(orphans: ExecutionRow[]): SessionEvent | null {
    const executions = orphans
      .filter((row) => this.#reported.has(attemptKey(row)) || this.#overdueInMs(row) <= 0)
      .map((row) => ({ executionId: row.executionId, attempt: row.attempt, reason: this.#reasonOf(row) }));
    return executions.length === 0 ? null : { type: 'tool.outcomeUnknown', executions };
  }

  #reasonOf(row: ExecutionRow): UnknownReason {
    if (this.#reported.has(attemptKey(row))) return 'reported';
    return this.#timedOut.has(attemptKey(row)) ? 'timeout' : 'crash';
  }

  /** Milliseconds until nobody can be at work on `row`'s attempt any more. */
  #overdueInMs({ deadlineAt }: ExecutionRow): number {
    return (deadlineAt?.getTime() ?? 0) + this.#drive.limits.graceMs - databaseNow(this.#drive);
  }

  /** Waits for an attempt to end, an orphan to be overdue or worth another look, or the drive to be aborted; while nothing is out, to be drained. */
  async #somethingHappens(orphans: ExecutionRow[], hasChildren: boolean): Promise<void> {
    const { environment, limits, signal: ended, draining } = this.#drive;
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, ended, ...(this.#inFlight.size === 0 ? [draining] : [])]);
    const waits = orphans.filter((row) => !isRepeatable(row)).map((row) => this.#overdueInMs(row));
    const lookMs = orphans.length > 0 || hasChildren ? Math.min(limits.heartbeatMs, MAX_PAUSE_MS) : MAX_PAUSE_MS;
    const timer = environment.sleep(Math.min(...waits, lookMs), signal).catch(() => undefined);
    await Promise.race([...this.#inFlight.values(), timer]);
    over.abort();
  }
}

/** The start of the next attempt of a call: that of a child session has no deadline. */
function startOf(
  drive: DriveContext,
  { executionId, attempt, toolName, inputParameters }: ExecutionRow,
): StartedAttempt {
  const tool = drive.agent.tools.get(toolName);
  const child = childOf(tool);
  const start = { executionId, attempt: attempt + 1 };
  if (child === null) return { ...start, timeoutMs: tool?.timeoutMs ?? drive.limits.toolTimeoutMs };
  return { ...start, timeoutMs: null, content: { child: describeAcceptedChild(drive, child, inputParameters) } };
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

function isRepeatable({ effect }: { effect: string }): boolean {
  return effect === 'readOnly' || effect === 'idempotent';
}
