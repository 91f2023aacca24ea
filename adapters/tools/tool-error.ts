/** What a tool knows of the attempt that it gives up. */
export interface ToolErrorOptions {
  /** Whether another attempt may succeed, and this one did nothing. Tried again where the tool declares `retry`. Default false. */
  retryable?: boolean;
  /** Milliseconds to wait at least before the next attempt, up to 10 minutes. Default: what the tool's back-off says. */
  retryAfterMs?: number;
  /** Yours, for programs: `[A-Za-z0-9_.:-]{1,64}`, kept on the execution. Anything else is not kept. Default: TOOL_FAILED, or TOOL_OUTCOME_UNKNOWN. */
  code?: string;
  /**
   * `failed`: it is known that the act did not happen. `unknown`: nobody knows, for example since the connection broke after the request
   * was sent; then the tool's effect class decides what comes next, as after a crash. Default `failed`.
   */
  outcome?: 'failed' | 'unknown';
  /** What led to it; not stored. */
  cause?: unknown;
}

/** The registered symbol is one for all copies of the package in a process. */
const BRAND = Symbol.for('turnlock.toolError');

/**
 * What `execute` throws to say more than that it failed: that another attempt may help, or that the outcome is unknown. The message is told
 * to the model. After the attempt's signal has aborted it says nothing about the act, as nothing thrown does.
 *
 * @example
 * if (answer.status === 429) throw new ToolError('the bank is busy', { retryable: true, retryAfterMs: 5_000 });
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly retryable: boolean;
  /** `null`: the tool's back-off decides. */
  readonly retryAfterMs: number | null;
  readonly code: string;
  readonly outcome: 'failed' | 'unknown';

  constructor(message: string, options: ToolErrorOptions = {}) {
    const { retryable = false, retryAfterMs = null, outcome = 'failed', cause } = options;
    const { code = outcome === 'unknown' ? 'TOOL_OUTCOME_UNKNOWN' : 'TOOL_FAILED' } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
    this.code = code;
    this.outcome = outcome;
  }

  /** Marks the class for {@link isToolError}. */
  get [BRAND](): true {
    return true;
  }
}

/** Whether `error` is a {@link ToolError}, also one of another copy of the package. */
export function isToolError(error: unknown): error is ToolError {
  if (typeof error !== 'object' || error === null) return false;
  try {
    return BRAND in error;
  } catch {
    return false; // a proxy may throw when it is asked
  }
}
