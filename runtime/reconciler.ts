import type { OutcomeContent } from '../machines/event-content.ts';
import type { AttemptResult } from '../machines/session-event.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { askReconcile, type ReconcileAnswer } from './ask-reconcile.ts';
import { attemptKey, type DriveContext } from './drive-context.ts';

/** When a call whose act did not happen is not tried again. */
export interface Ends {
  /** It has been tried as often as it may. */
  maxAttempts(row: ExecutionRow): number;
  /** Its last attempt failed for good, in this way; `null`: it did not. */
  failed(row: ExecutionRow): OutcomeContent | null;
}

/** Asks about the attempts of `reconcilable` tools of which nothing says how they ended, one ask for each, and holds what came of it. */
export class Reconciler {
  readonly #drive: DriveContext;
  readonly #asking = new Map<string, Promise<void>>();
  readonly #answers = new Map<string, ReconcileAnswer>();
  /** Attempts that were not done when their tool came back, before their time was over: a request may still arrive. */
  readonly #tooEarly = new Set<string>();

  constructor(drive: DriveContext) {
    this.#drive = drive;
  }

  /** What is being asked; each resolves when its answer is there. */
  get pending(): Promise<void>[] {
    return [...this.#asking.values()];
  }

  /** Begins to ask about `row`, unless that has begun. `isOver` says that nobody can be at work on it any more. */
  ask(row: ExecutionRow, isOver: boolean): void {
    const key = attemptKey(row);
    if (this.#asking.has(key) || this.#answers.has(key) || (!isOver && this.#tooEarly.has(key))) return;
    if (this.#drive.draining.aborted) return;
    const asked = askReconcile(this.#drive, row).then((answer) => {
      this.#asking.delete(key);
      if (answer === null) return;
      if (answer.type === 'notDone' && !isOver) this.#tooEarly.add(key);
      else this.#answers.set(key, answer);
    });
    this.#asking.set(key, asked);
  }

  /** Whether the act of `row` did not happen. */
  isNotDone(row: ExecutionRow): boolean {
    return this.#answers.get(attemptKey(row))?.type === 'notDone';
  }

  /** Why nobody can tell what became of `row`; `null` where that is not known yet, or something else is. */
  whyUnknown(row: ExecutionRow) {
    const answer = this.#answers.get(attemptKey(row));
    return answer?.type === 'cannotTell' ? answer.content : null;
  }

  /** The results of those whose act happened, and of those whose act did not and that are not tried again. */
  resultsOf(rows: readonly ExecutionRow[], { maxAttempts, failed }: Ends): AttemptResult[] {
    return rows.flatMap((row): AttemptResult[] => {
      const { executionId, attempt } = row;
      const answer = this.#answers.get(attemptKey(row));
      if (answer?.type === 'done') {
        return [{ executionId, attempt, outcome: 'succeeded', by: 'reconcile', content: answer.content }];
      }
      if (answer?.type !== 'notDone') return [];
      const content = failed(row) ?? (attempt < maxAttempts(row) ? null : spent(attempt));
      return content === null ? [] : [{ executionId, attempt, outcome: 'failed', by: 'reconcile', content }];
    });
  }
}

function spent(attempt: number): OutcomeContent {
  return { error: { code: 'TOOL_FAILED', message: `It was started ${attempt} times, and its act did not happen.` } };
}
