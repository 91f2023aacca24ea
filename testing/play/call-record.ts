import type { BrokenPromises } from '../invariants/broken-promises.ts';
import { PROMISE_NAMES } from '../invariants/promise-names.ts';
import type { ToolCall } from './watched-tool.ts';

/** One execution, as its calls were seen from outside. */
interface SeenCalls {
  /** Number of each attempt that was called, in order. */
  attempts: number[];
  /** How often a person sent it again. */
  sentAgain: number;
  isDenied: boolean;
  /** How often `reconcile` was asked. */
  reconciles: number;
}

/** What Turnlock itself promises of calls, held against what was called: whatever the tools are. */
export class CallRecord {
  readonly #calls = new Map<string, SeenCalls>();
  readonly #broken: BrokenPromises;

  constructor(broken: BrokenPromises) {
    this.#broken = broken;
  }

  /** Notes a call of `execute`, as it begins. */
  note({ tool, context: { executionId, attempt } }: ToolCall): void {
    const seen = this.#of(executionId);
    if (seen.isDenied) this.#broken.note(PROMISE_NAMES.denied, `${tool.name} ran after it was denied`);
    if (tool.effect !== 'transactional') {
      if (seen.attempts.includes(attempt)) {
        this.#broken.note(PROMISE_NAMES.attempt, `attempt ${attempt} of one ${tool.name} ran twice`);
      }
      const most =
        tool.effect === 'nonRepeatable' && tool.retry === null ? 1 + seen.sentAgain : Number.POSITIVE_INFINITY;
      if (new Set(seen.attempts).size >= most && !seen.attempts.includes(attempt)) {
        this.#broken.note(PROMISE_NAMES.repeated, `${tool.name} ran again, and nobody had said so`);
      }
    }
    seen.attempts.push(attempt);
  }

  /** Notes that a person denied a call: it was taken. */
  denied(executionId: string): void {
    this.#of(executionId).isDenied = true;
  }

  /** Notes that a person sends a call again. */
  sentAgain(executionId: string): void {
    this.#of(executionId).sentAgain += 1;
  }

  /** Notes a call of `reconcile`. */
  reconciled(executionId: string): void {
    this.#of(executionId).reconciles += 1;
  }

  /** How often `execute` was called for it. */
  attemptsOf(executionId: string): number {
    return this.#calls.get(executionId)?.attempts.length ?? 0;
  }

  /** How often `reconcile` was called for it. */
  reconcilesOf(executionId: string): number {
    return this.#calls.get(executionId)?.reconciles ?? 0;
  }

  #of(executionId: string): SeenCalls {
    const seen = this.#calls.get(executionId) ?? { attempts: [], sentAgain: 0, isDenied: false, reconciles: 0 };
    this.#calls.set(executionId, seen);
    return seen;
  }
}
