import { isTurnlockError, TurnlockError } from '../../errors.ts';

/** What a tool knows of the attempt that it gives up. */
export interface ToolErrorOptions {
  /** Whether another attempt may succeed, and this one did nothing. Tried again where the tool declares `retry`. Default false. */
  retryable?: boolean;
  /** Milliseconds to wait at least before the next attempt, up to 10 minutes; NaN and what is below 0 is none. Default: what the tool's back-off says. */
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
 * @throws OPTIONS_INVALID for an option that is none, or not of its kind. Nothing is lost by that: an `execute` that leaves with it has an
 * unknown outcome.
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
    checkToolError(message, options);
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

const WANTED: Record<keyof ToolErrorOptions, { fits(value: unknown): boolean; wanted: string }> = {
  retryable: { fits: (value) => typeof value === 'boolean', wanted: 'true or false' },
  retryAfterMs: { fits: (value) => typeof value === 'number', wanted: 'a number' },
  code: { fits: (value) => typeof value === 'string', wanted: 'a text' },
  outcome: { fits: (value) => value === 'failed' || value === 'unknown', wanted: 'failed or unknown' },
  cause: { fits: () => true, wanted: 'anything' },
};

/** A name that is ignored, or an outcome that is none, could be the one that says that nobody knows. */
function checkToolError(message: string, options: ToolErrorOptions): void {
  if (typeof options !== 'object' || options === null) throw notAccepted('options', message, 'an object');
  for (const [name, value] of Object.entries(options)) {
    const option = Object.hasOwn(WANTED, name) ? WANTED[name as keyof ToolErrorOptions] : undefined;
    if (option === undefined) throw notAccepted(name, message, `only ${Object.keys(WANTED).join(', ')}`);
    if (value !== undefined && !option.fits(value)) throw notAccepted(name, message, option.wanted);
  }
}

function notAccepted(name: string, message: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `option not accepted: ${name} of a ToolError that says "${message}" (wanted ${wanted})`,
    details: { of: 'ToolError', name },
  });
}

/** Whether `error` is what a {@link ToolError} throws that could not be made. */
export function isToolErrorRefused(error: unknown): boolean {
  try {
    return isTurnlockError(error, 'OPTIONS_INVALID') && error.details.of === 'ToolError';
  } catch {
    return false; // a getter may throw
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
