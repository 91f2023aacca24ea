/**
 * What the caller should do about an error:
 * - `usage`: the call, the definition or the set-up is wrong. Correct it.
 * - `state`: the session does not allow this now. Look at its state.
 * - `conflict`: somebody else was first, or the same id was used for something else. Read again, then decide.
 * - `transient`: nothing was written. Wait, then repeat.
 * - `commitUnknown`: it may have been written. Repeat with the same ids only.
 * - `work`: the model or a tool failed; the session holds the reason.
 * - `limit`: a bound was met. Ask for less or raise the bound.
 * - `version`: build, schema and stored data do not fit each other. Migrate, deploy or upgrade.
 * - `bug`: should not happen. Nothing was written; report it with code and details.
 */
export type ErrorCategory =
  | 'usage'
  | 'state'
  | 'conflict'
  | 'transient'
  | 'commitUnknown'
  | 'work'
  | 'limit'
  | 'version'
  | 'bug';

/** What holds for every error of one code, unless the error itself says otherwise. */
export interface ErrorKind {
  readonly category: ErrorCategory;
  /** Whether the same call, repeated as it is, may succeed and does no harm. */
  readonly retryable: boolean;
  /** What to do, in one or two sentences. */
  readonly hint: string;
}

function kind(category: ErrorCategory, hint: string, retryable = false): ErrorKind {
  return { category, retryable, hint };
}

/** Every code that can leave Turnlock. Codes are stable; `docs/errors.md` has a heading for each. */
export const ERROR_CODES = {
  // What the caller wrote
  RUNTIME_CLOSED: kind('usage', 'Create a new runtime; a closed one does not open again.'),
  SESSION_NOT_FOUND: kind('usage', 'Check tenant and session id: a session is found only under its own tenant.'),
  RUN_NOT_FOUND: kind(
    'usage',
    'The transaction that would have begun the run was rolled back, or has not committed yet.',
  ),
  AGENT_UNKNOWN: kind('usage', 'Pass the agent to createRuntime({ agents }).'),
  TOOL_UNKNOWN: kind('usage', 'Add the tool to the agent, or deploy a build that has it.'),
  OPTIONS_INVALID: kind('usage', 'Correct the option that the message names.'),
  VALUE_INVALID: kind('usage', 'Pass what JSON can hold: convert dates, maps, big integers and instances first.'),
  PARAMS_INVALID: kind('usage', 'Pass params that the input schema of the tool accepts.'),
  TOOL_NAME_INVALID: kind('usage', 'Use 1 to 64 letters, digits, underscores and hyphens.'),
  DEFINITION_INVALID: kind('usage', 'Correct the definition at the place that the message names.'),
  APPROVER_NOT_ALLOWED: kind('usage', 'Let one of those decide whom the policy names.'),
  MEMORY_NOT_FOUND: kind('usage', 'Supersede memories that the same user has; memory.list() shows them.'),
  EXECUTION_NOT_FOUND: kind('usage', 'session.status() lists the calls that wait.'),
  OUTCOME_INVALID: kind('usage', 'Settle as succeeded with an output, as failed with a reason, or as runAgain.'),
  CONFIG_INVALID: kind('usage', 'Export the options of createRuntime from turnlock.config.ts.'),
  TRANSCRIPT_INVALID: kind('usage', 'Answer every tool call before the next message, in order.'),
  TRANSACTION_CONTROL: kind(
    'usage',
    'Leave BEGIN, COMMIT and ROLLBACK to the runtime; savepoints and SET LOCAL are fine.',
  ),
  TRANSACTION_OVER: kind('usage', 'Await every statement of a transactional tool before its execute returns.'),
  TRANSACTION_REENTRANT: kind(
    'usage',
    'Call the runtime outside the transactional tool, or make the tool another class.',
  ),
  PRIVILEGE_MISSING: kind(
    'usage',
    'As the owner of the schema run `turnlock migrate --grant-to ROLE` for a service, `--grant-reader-to ROLE` for who only looks.',
  ),
  DATABASE_LOGIN_REFUSED: kind('usage', 'Check user, password, database name and TLS of the connection.'),
  DATA_DIRECTORY_INVALID: kind('usage', 'Name a folder that is empty or that Turnlock made.'),

  // What the session allows
  SESSION_COMPLETED: kind('state', 'A completed session is final: create a new session.'),
  EVENT_ILLEGAL: kind('state', 'Read the state of the session with session.status(), then decide.'),
  FORK_TURN_INVALID: kind(
    'state',
    'Fork at one of the turns that the message names: every call up to it must have its tool turn.',
  ),
  EXECUTION_RUNNING: kind('state', 'Wait until it ends, or cancel the run.'),
  RUN_CANCELLED: kind('state', 'Send a new message to begin another run.'),

  APPROVAL_NOT_ASKED: kind(
    'state',
    'runtime.awaiting() lists what waits; an unknown outcome is settled, a question answered.',
  ),
  APPROVAL_EXPIRED: kind('state', 'The call was not run. The model may ask again, which opens a new round.'),

  // Who was first
  APPROVAL_DECIDED: kind('conflict', 'Somebody decided first; details say who, what and when.'),
  APPROVAL_STALE: kind(
    'conflict',
    'Look at what is asked now, then decide about that: by its digest, or by its approvalId.',
  ),
  SESSION_BUSY: kind(
    'conflict',
    "Wait for the session to come to rest, or send with whenBusy: 'enqueue' or 'interrupt'.",
    true,
  ),
  MESSAGE_CONFLICT: kind('conflict', 'Give every message an id of its own; a repeat must have the same content.'),
  MEMORY_CONFLICT: kind(
    'conflict',
    'Give every memory an id of its own, and supersede one that was not superseded; memory.list() shows what counts now.',
  ),
  EXTERNAL_ID_CONFLICT: kind('conflict', 'Use another external id, or open the session that has it.'),
  VERSION_CONFLICT: kind('conflict', 'Read the session again and repeat.', true),
  TOKEN_STALE: kind('conflict', 'Stop: another worker holds the session now, and it goes on from the last commit.'),
  LEASE_HELD: kind('conflict', 'Leave the session to its worker; it can be taken once the lease has expired.', true),
  KEY_CONFLICT: kind('conflict', 'The idempotency key stands for a call with other params. Nothing was run.'),
  EXECUTION_SETTLED: kind('conflict', 'Somebody decided first; read the execution to see who and how.'),
  DATA_DIRECTORY_IN_USE: kind('conflict', 'End the other process, or use another folder or a PostgreSQL server.'),

  // What passes by itself
  DATABASE_UNREACHABLE: kind('transient', 'Check that the server runs and that host and port are right.', true),
  DATABASE_TRANSIENT: kind('transient', 'Nothing was written. Repeat after a short wait.', true),
  COMMIT_UNKNOWN: kind('commitUnknown', 'It may have been written. Repeat with the same message id or event id only.'),

  TOOL_SERVER_FAILED: kind(
    'transient',
    'Check that the server of the tools starts, answers and lets us in. No tool was called.',
    true,
  ),

  // What the outside did
  INSTRUCTIONS_FAILED: kind(
    'work',
    'See the cause: the function that makes the instructions threw, made no text, or did not end in time.',
    true,
  ),
  MODEL_FAILED: kind('work', 'See the cause. session.retry() begins a new run from the same history.', true),
  EMBEDDING_FAILED: kind('work', 'See the cause. Searches go by text alone until the embedder answers.', true),
  TOOL_FAILED: kind('work', 'See the cause. The model was told; the session goes on.'),
  PARAMS_CHANGED: kind(
    'work',
    'Refuse the call, or cancel its run: `turnlock doctor` says what of its row was changed. Nothing was run.',
  ),
  UPGRADE_FAILED: kind('work', 'Settle the call by hand, or deploy an upgrade that takes its params.'),
  POLICY_DENIED: kind('work', 'A policy of the tool does not allow the call. The model was told; the session goes on.'),
  POLICY_FAILED: kind(
    'work',
    'See the message: the policy threw, gave no verdict, or did not end in time. Nothing was run.',
  ),
  APPROVAL_DENIED: kind('work', 'A person refused the call. The model was told; the session goes on.'),
  APPROVAL_SUPERSEDED: kind('work', 'A message of the user made the call needless. The model was told.'),
  CALL_NOT_REPEATED: kind(
    'work',
    'The same call of the run may have taken effect. The model was told; the session goes on.',
  ),
  CLAIM_KEY_FAILED: kind('work', 'See the message: `once.key` of the tool threw or gave no text. Nothing was run.'),
  COST_FAILED: kind('work', 'See the message: `cost` of the tool threw or gave no whole number. Nothing was run.'),
  CLAIM_HELD: kind(
    'work',
    'Another call with the same business key is open, or its outcome is unknown. Look at that one.',
  ),
  CLAIM_OF_ANOTHER_USER: kind(
    'work',
    'It was done for another user. Declare shareAcrossUsers where they may see the result.',
  ),
  TOOL_TIMED_OUT: kind('work', 'Its outcome is unknown: look at the receiver, then settle the execution.'),
  TOOL_OUTCOME_UNKNOWN: kind('work', 'Look at the receiver, then settle the execution.'),
  NEVER_RESTS: kind(
    'work',
    'Find what a tool or a model under test does again and again. reset() and close() of the harness end it.',
  ),

  // Bounds
  VALUE_TOO_LARGE: kind('limit', 'Pass a reference instead of the content, or raise the bound in `limits`.'),
  LIMIT_MODEL_CALLS: kind('limit', 'Raise maxModelCallsPerRun, or look why the run does not come to an end.'),
  LIMIT_TOKENS: kind('limit', 'Raise maxTokensPerRun, or look why the run does not come to an end.'),
  LIMIT_RUN_TOOL_CALLS: kind('limit', 'Raise maxToolCallsPerRun, or look why the run does not come to an end.'),
  LIMIT_TOOL_CALLS: kind('limit', 'Raise maxToolCallsPerTurn, or ask the model for fewer calls at once.'),
  LIMIT_WAITING_MESSAGES: kind('limit', 'Wait for the session to come to rest, or raise maxWaitingMessages.'),
  LIMIT_CHILD_DEPTH: kind('limit', 'Raise maxChildDepth, or let the agent do it itself.'),
  LIMIT_RECOVERIES: kind('limit', 'The session ends its worker again and again: find out why, then session.retry().'),

  // What does not fit together
  SCHEMA_MISSING: kind('version', "Run `turnlock migrate`, or create the runtime with migrate: 'auto'."),
  SCHEMA_OUTDATED: kind('version', "Run `turnlock migrate`, or create the runtime with migrate: 'auto'."),
  SCHEMA_TOO_NEW: kind('version', 'Deploy the build that the schema was migrated for.'),
  DATABASE_UNSUPPORTED: kind('version', 'Use PostgreSQL 15 or newer.'),
  MACHINE_VERSION_UNSUPPORTED: kind('version', 'Deploy a build that knows this version; older builds leave it alone.'),
  AGENT_VERSION_MISMATCH: kind(
    'version',
    'A newer build has gone on with the session: deploy that version of the agent here too.',
  ),
  TOOL_VERSION_UNSUPPORTED: kind(
    'version',
    'A newer build has asked for the call: deploy that version of the tool here too.',
  ),
  EMBEDDING_MISMATCH: kind(
    'version',
    "Run `turnlock memory reembed`, go back to the embedder of before, or search by text alone with memory: { whenMismatched: 'textOnly' }.",
  ),
  TOOL_SCHEMA_CHANGED: kind(
    'version',
    'Raise the version of the tool and add an upgrade: versioned(before).to(now, upgrade).',
  ),

  // What should not happen
  SNAPSHOT_INVALID: kind(
    'bug',
    'The session is left alone. `turnlock show` prints what can be read of it; please report it.',
  ),
  DATABASE_REFUSED: kind('bug', 'The database refused an illegal change; nothing was written. Please report it.'),
  DATABASE_FAILED: kind('bug', 'The database answered with an error nobody expected here. Please report it.'),
  INVARIANT_BROKEN: kind('bug', 'Nothing was written. Please report it with code and details.'),
} as const satisfies Record<string, ErrorKind>;

/** The code of an error: stable, for programs. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** What an error is made from. */
export interface TurnlockErrorOptions {
  /** `what happened: to what (found, wanted)`. No secrets, no tool arguments. A full stop is added where it is missing. */
  message: string;
  /** Ids, found and wanted, as JSON: no secrets, no tool arguments. */
  details?: Readonly<Record<string, unknown>>;
  /** Default: the hint of the code. */
  hint?: string;
  /** Default: what the code says. */
  retryable?: boolean;
  /** What led to it. Never in {@link TurnlockError.toJSON}. */
  cause?: unknown;
}

/** What {@link TurnlockError.toJSON} gives. */
export interface TurnlockErrorJson {
  code: ErrorCode;
  category: ErrorCategory;
  retryable: boolean;
  message: string;
  hint: string;
  details: Readonly<Record<string, unknown>>;
}

/** The registered symbol is one for all copies of the package in a process. */
const BRAND = Symbol.for('turnlock.error');

/**
 * The one error that Turnlock throws. Decide by `code`, or by `category` for what to do; the message is for people and may change.
 *
 * @example
 * try {
 *   await session.send('Refund order 42', { messageId });
 * } catch (error) {
 *   if (isTurnlockError(error) && error.category === 'transient') await retryLater();
 *   else throw error;
 * }
 */
export class TurnlockError extends Error {
  override readonly name = 'TurnlockError';
  readonly code: ErrorCode;
  readonly category: ErrorCategory;
  /** Whether the same call, repeated as it is, may succeed and does no harm. */
  readonly retryable: boolean;
  /** What to do. */
  readonly hint: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, { message, details = {}, hint, retryable, cause }: TurnlockErrorOptions) {
    super(/[.!?]$/.test(message) ? message : `${message}.`, cause === undefined ? undefined : { cause });
    const known = ERROR_CODES[code];
    this.code = code;
    this.category = known.category;
    this.retryable = retryable ?? known.retryable;
    this.hint = hint ?? known.hint;
    this.details = details;
  }

  /** Marks the class for {@link isTurnlockError}. */
  get [BRAND](): true {
    return true;
  }

  /** What may be logged and shown: everything but stack and cause. */
  toJSON(): TurnlockErrorJson {
    const { code, category, retryable, message, hint, details } = this;
    return { code, category, retryable, message, hint, details };
  }
}

/** Whether `error` is a {@link TurnlockError}, also one of another copy of the package. With `code`: and has that code. */
export function isTurnlockError(error: unknown, code?: ErrorCode): error is TurnlockError {
  if (typeof error !== 'object' || error === null || !isBranded(error)) return false;
  return code === undefined || (error as TurnlockError).code === code;
}

/** A proxy may throw when it is asked; then it is none of ours. */
function isBranded(error: object): boolean {
  try {
    return BRAND in error;
  } catch {
    return false;
  }
}
