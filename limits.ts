import { TurnlockError } from './errors.ts';

/** Every bound that can be set, with its unit in its name. All are whole numbers; see {@link LIMITS} for the defaults. */
export interface Limits {
  /** Bytes of UTF-8 of one message's text, and of its parts as JSON. Default 1 MiB. */
  maxMessageBytes: number;
  /** Bytes of one answer of a model: its text, and its parts with all calls as JSON. Default 4 MiB. */
  maxReplyBytes: number;
  /** Bytes of the JSON of one call's params. Default 256 KiB. */
  maxParamsBytes: number;
  /** Bytes of the JSON of one call's output. What is larger is stored as a placeholder; the call has run. Default 1 MiB. */
  maxOutputBytes: number;
  /** Bytes of one error message; longer ones are cut, and say so. Default 16 KiB. */
  maxErrorBytes: number;
  /** Bytes of the JSON of one `metadata`. Default 16 KiB. */
  maxMetadataBytes: number;
  /** Bytes of the content of one memory, at most 1 MiB. Default 64 KiB. */
  maxMemoryBytes: number;
  /** Bytes of the JSON of all that the tools of one run keep in `context.scratchpad`, keys included. Default 1 MiB. */
  maxScratchpadBytes: number;
  /**
   * Bytes of UTF-8 of pieces of answers that are kept in memory at a time: of a session's unfinished answer for who comes late, of what waits
   * for one slow reader or a slow channel, and of one run for who iterates it. Beyond it pieces are let go; the committed answer follows. Default 256 KiB.
   */
  maxDeltaBytes: number;
  /** Levels of arrays and objects within each other; a bare number or text has 0. Default 64. */
  maxDepth: number;

  /** Answers of the model that one run may take. The next one fails the run with LIMIT_MODEL_CALLS. Default 50. */
  maxModelCallsPerRun: number;
  /**
   * Tokens of the answers of one run, as their provider counts them. Once they are used up no call starts and no model is asked: the run fails
   * with LIMIT_TOKENS. An answer without calls ends the run well, however long it is. Default 10 000 000.
   */
  maxTokensPerRun: number;
  /** Tool calls that the model may ask for in one run. The answer that asks for more fails it with LIMIT_RUN_TOOL_CALLS. Default 1 000. */
  maxToolCallsPerRun: number;
  /** Tool calls in one answer of the model. More fail the run with LIMIT_TOOL_CALLS. Default 64. */
  maxToolCallsPerTurn: number;
  /** Tool calls of one session that run at the same time; the others wait as PENDING. Default 8. */
  maxParallelTools: number;
  /** Attempts of one model call, the first among them. Default 3. */
  maxModelAttempts: number;
  /** Attempts of one call of a repeatable class that ends without an answer, the first among them; then TIMED_OUT. Default 3. */
  maxToolAttempts: number;
  /** Times that `reconcile` is asked about one attempt while it throws or has no answer; then a person is asked. Default 5. */
  maxReconcileAttempts: number;
  /** Messages that wait while a session is busy. One more is refused with LIMIT_WAITING_MESSAGES, unless it comes in a caller's transaction or by SQL. Default 100. */
  maxWaitingMessages: number;
  /** Takeovers of one run from workers that died. One more fails it with LIMIT_RECOVERIES. Default 5. */
  maxRecoveries: number;
  /** Parents above a child session. A call that would go deeper fails with LIMIT_CHILD_DEPTH. Default 5. */
  maxChildDepth: number;
  /** Sessions that one worker drives at the same time, at most 1 000; runs that `send` drives do not count. Default 8. */
  maxWorkerSessions: number;

  /** Milliseconds before the second attempt of a model call, half to one and a half times; doubled for each further one. Default 500. */
  modelBackoffMs: number;
  /** Milliseconds before `reconcile` is asked again, half to one and a half times; doubled each time, up to 30 000. Default 1 000. */
  reconcileBackoffMs: number;

  /** Milliseconds for which a worker holds a session without a sign of life. Default 15 000. */
  leaseMs: number;
  /** Milliseconds between two signs of life; less than `leaseMs`. Default a third of `leaseMs`. */
  heartbeatMs: number;
  /** Milliseconds past a deadline before the outcome counts as unknown, for clocks that differ. Default 5 000. */
  graceMs: number;
  /** Milliseconds after which a parent whose children work is looked at again, in case nobody told of their end. Default 60 000. */
  childLookMs: number;
  /** Milliseconds between two looks for sessions that owe work. Default 2 000. */
  sweepMs: number;
  /** Milliseconds to wait for a session's lock, then DATABASE_TRANSIENT. Default 5 000. */
  lockTimeoutMs: number;
  /**
   * Milliseconds that one statement may take, then DATABASE_TRANSIENT; and for which a transaction may be silent between two statements, then
   * the server ends it. An answer that is two seconds later than that and `lockTimeoutMs` is lost with its connection. Default 10 000.
   */
  statementTimeoutMs: number;
  /** Milliseconds to get a connection, then DATABASE_UNREACHABLE. Default 10 000. */
  connectTimeoutMs: number;
  /** Milliseconds for one attempt of a tool that names no time-out of its own. Default 30 000. */
  toolTimeoutMs: number;
  /** Milliseconds for one attempt of a model call. Default 120 000. */
  modelTimeoutMs: number;
  /** Milliseconds for one call of an embedder. A search that waits for it longer goes by text alone. Default 10 000. */
  embedTimeoutMs: number;
  /** Milliseconds for one verdict of a policy. Default 10 000. */
  policyTimeoutMs: number;
  /** Milliseconds for which `onAwaiting` is waited for; then it is told again later. Default 30 000. */
  hookTimeoutMs: number;
}

/** Bounds of one run: an agent may have its own. */
export type RunLimits = Pick<
  Limits,
  'maxModelCallsPerRun' | 'maxTokensPerRun' | 'maxToolCallsPerRun' | 'maxToolCallsPerTurn'
>;

const RUN_LIMITS: readonly string[] = [
  'maxModelCallsPerRun',
  'maxTokensPerRun',
  'maxToolCallsPerRun',
  'maxToolCallsPerTurn',
] satisfies (keyof RunLimits)[];

const KIB = 1024;
const MIB = 1024 * KIB;

/** The defaults. */
export const LIMITS: Limits = Object.freeze({
  maxMessageBytes: MIB,
  maxReplyBytes: 4 * MIB,
  maxParamsBytes: 256 * KIB,
  maxOutputBytes: MIB,
  maxErrorBytes: 16 * KIB,
  maxMetadataBytes: 16 * KIB,
  maxMemoryBytes: 64 * KIB,
  maxScratchpadBytes: MIB,
  maxDeltaBytes: 256 * KIB,
  maxDepth: 64,
  maxModelCallsPerRun: 50,
  maxTokensPerRun: 10_000_000,
  maxToolCallsPerRun: 1_000,
  maxToolCallsPerTurn: 64,
  maxParallelTools: 8,
  maxModelAttempts: 3,
  maxToolAttempts: 3,
  maxReconcileAttempts: 5,
  maxWaitingMessages: 100,
  maxRecoveries: 5,
  maxChildDepth: 5,
  maxWorkerSessions: 8,
  modelBackoffMs: 500,
  reconcileBackoffMs: 1_000,
  leaseMs: 15_000,
  heartbeatMs: 5_000,
  graceMs: 5_000,
  childLookMs: 60_000,
  sweepMs: 2_000,
  lockTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  connectTimeoutMs: 10_000,
  toolTimeoutMs: 30_000,
  modelTimeoutMs: 120_000,
  embedTimeoutMs: 10_000,
  policyTimeoutMs: 10_000,
  hookTimeoutMs: 30_000,
});

/** Characters (not bytes, not UTF-16 units) that the columns hold. Fixed by the schema, so not among {@link Limits}. */
export const MAX_CHARACTERS = Object.freeze({
  tenantId: 64,
  userId: 64,
  externalId: 255,
  messageId: 255,
  modelId: 64,
  agentName: 64,
  toolName: 64,
  decidedBy: 255,
  errorCode: 64,
});

/** Inclusive bounds. jsonb holds at most 256 MiB and a value is held several times in memory; a timer holds 2^31 - 1 ms. */
const RANGES: readonly { ends: RegExp; min: number; max: number }[] = [
  { ends: /^maxErrorBytes$/, min: 256, max: 64 * MIB },
  { ends: /^maxMemoryBytes$/, min: 1, max: MIB },
  { ends: /Bytes$/, min: 1, max: 64 * MIB },
  { ends: /^maxDepth$/, min: 1, max: 1_000 },
  { ends: /^maxTokensPerRun$/, min: 1, max: 1_000_000_000_000 },
  { ends: /^maxRecoveries$/, min: 0, max: 1_000_000 },
  { ends: /^maxWorkerSessions$/, min: 1, max: 1_000 },
  { ends: /^(graceMs|modelBackoffMs|reconcileBackoffMs)$/, min: 0, max: 2 ** 31 - 1 },
  { ends: /^leaseMs$/, min: 100, max: 2 ** 31 - 1 },
  { ends: /Ms$/, min: 1, max: 2 ** 31 - 1 },
  { ends: /^max/, min: 1, max: 1_000_000 },
];

/**
 * `given` over the defaults. An absent or `undefined` limit takes its default; `heartbeatMs` follows `leaseMs`.
 *
 * @throws OPTIONS_INVALID for what is no object, a name that is no limit, a value out of its range, or a heartbeat that is not below
 * the lease.
 */
export function resolveLimits(given: Partial<Limits> = {}): Limits {
  const limits = { ...LIMITS, ...checkLimits(given, Object.keys(LIMITS)) };
  if (given.heartbeatMs === undefined) limits.heartbeatMs = Math.floor(limits.leaseMs / 3);
  if (limits.heartbeatMs >= limits.leaseMs) {
    throw refuse('heartbeatMs', String(limits.heartbeatMs), `less than leaseMs, which is ${limits.leaseMs}`);
  }
  return limits;
}

/** The bounds of `given` that are set, each a bound of a run. @throws OPTIONS_INVALID for anything else. */
export function checkRunLimits(given: Partial<RunLimits> = {}): Partial<RunLimits> {
  return checkLimits(given, RUN_LIMITS);
}

function checkLimits<Given extends Partial<Limits>>(given: Given, names: readonly string[]): Given {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw refuse('limits', given === null ? 'null' : typeof given, 'an object');
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  for (const [name, value] of Object.entries(given)) {
    if (!names.includes(name)) throw refuse(name, 'a name that is no limit', `one of ${names.join(', ')}`);
    if (value !== undefined) checkRange(name, value);
  }
  return Object.fromEntries(set) as Given;
}

function checkRange(name: string, value: unknown): void {
  const { min, max } = RANGES.find(({ ends }) => ends.test(name))!;
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
  throw refuse(name, typeof value === 'number' ? String(value) : typeof value, `a whole number from ${min} to ${max}`);
}

function refuse(name: string, found: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `limit not accepted: ${name} (found ${found}, wanted ${wanted})`,
    details: { limit: name },
  });
}
