import { TurnlockError } from '../errors.ts';
import type {
  ClaimContent,
  ModelCallContent,
  ModelTurnContent,
  Normalised,
  OutcomeContent,
} from '../machines/event-content.ts';
import { isSettled } from '../machines/execution-status.ts';
import { callsAfter, type OpenCall, waitsToRetry } from '../machines/open-calls.ts';
import type { EventOf, PlannedCall, SessionEvent } from '../machines/session-event.ts';
import type { SessionSnapshot } from '../machines/snapshot-codec.ts';
import { leavesDoubt, withDoubt } from './doubt-of-execution.ts';
import { failureOf, NOT_FAILED, reportOf } from './failed-attempts.ts';
import { turnIdempotencyKey } from './keys/turn-idempotency-key.ts';
import { lateText, outcomeOf, outcomeText } from './outcome-text.ts';
import { projectChildren } from './project-children.ts';
import type { ExecutionProgress, ExecutionRow, ExecutionUpdate, RowChanges, TurnRow } from './row-changes.ts';
import { amendedVersionColumns, claimColumns, heldColumns, upgradeColumns } from './start-columns.ts';

/** What the projection of one event is made from. */
export interface Projected {
  sessionId: string;
  before: SessionSnapshot;
  after: SessionSnapshot;
  event: SessionEvent;
  /** The executions of the open assistant turn, fresh under the lock. */
  executions: readonly ExecutionRow[];
  /** The execution of an earlier turn that evidence is about; absent elsewhere. */
  late?: ExecutionRow | null;
  /** The assistant turn whose calls are open. */
  callTurnId: string | null;
  /** The database's time, read after the lock. */
  now: Date;
  /** The fencing token after this commit. */
  token: number;
  newId(): string;
}

/** The rows that `event` writes: a pure function of its input, shared by every form of the commit. */
export function projectRows(input: Projected): RowChanges {
  const { event } = input;
  const ownTurn = turnOfEvent(input);
  const insertedExecutions =
    event.type === 'model.calledTools' ? insertExecutions(input, event, ownTurn?.turnId ?? '') : [];
  const updatedExecutions = new Map([...updateExecutions(input), ...lateUpdates(input)]);
  const executions = [...input.executions, ...insertedExecutions].map((execution) => ({
    ...execution,
    ...updatedExecutions.get(execution.executionId),
  }));
  const answers = answerCalls(input, executions, ownTurn?.turnId ?? input.callTurnId);
  const turns = [...(ownTurn === null ? [] : [ownTurn]), ...answers, ...lateNotices(input)];
  return { turns, insertedExecutions, updatedExecutions, modelCall: modelCallOf(event), ...projectChildren(input) };
}

function turnOfEvent(input: Projected): TurnRow | null {
  const { event, after } = input;
  if (event.type === 'user.messaged' && event.answersExecutionId === undefined) {
    const { text, parts, metadata, normalised } = event.content;
    return { ...emptyTurn(input, 0), role: 'user', content: text, parts, metadata, normalised, runId: event.runId };
  }
  if (event.type === 'model.replied' || event.type === 'model.calledTools') {
    return { ...emptyTurn(input, 0), ...assistantTurn(event.content), runId: after.context.runId };
  }
  return null;
}

function assistantTurn(content: ModelTurnContent): Partial<TurnRow> {
  const { text, parts, usage, metadata, normalised } = content;
  return { role: 'assistant', content: text, parts, tokenUsageJson: usage, metadata, normalised };
}

function emptyTurn({ before, newId }: Projected, offset: number): TurnRow {
  return {
    turnId: newId(),
    turnIndex: before.context.nextTurnIndex + offset,
    runId: before.context.runId,
    role: 'tool',
    content: '',
    parts: [],
    tokenUsageJson: {},
    executionId: null,
    callTurnId: null,
    callOrdinal: null,
    normalised: null,
    metadata: {},
  };
}

function insertExecutions(input: Projected, event: EventOf<'model.calledTools'>, turnId: string): ExecutionRow[] {
  const calls = callsAfter([], event) ?? [];
  return event.calls.map((planned, place) => {
    const call = calls[place] as OpenCall;
    return { ...identityOf(input, planned, turnId), ...initialProgress(input, planned, call) };
  });
}

function identityOf(input: Projected, planned: PlannedCall, turnId: string) {
  const { toolName, toolVersion, effect, repeatable, params, paramsDigest, providerCallId, rawInput } = planned.content;
  const ordinal = planned.ordinals[0] ?? 0;
  const idempotencyKey = turnIdempotencyKey({
    sessionId: input.sessionId,
    turnIndex: input.before.context.nextTurnIndex,
    toolName,
    digest: paramsDigest,
    ...(repeatable ? { ordinal } : {}),
  });
  return {
    executionId: planned.executionId,
    turnId,
    runId: input.after.context.runId ?? '',
    ordinal,
    toolName,
    toolVersion,
    effect,
    idempotencyKey,
    inputParameters: params,
    paramsDigest,
    providerCallId,
    rawInput,
    answeredBy: planned.content.answered?.executionId ?? null,
    ...guardColumns(planned.content),
  };
}

function initialProgress(input: Projected, planned: PlannedCall, call: OpenCall): ExecutionProgress {
  const progress: ExecutionProgress = {
    status: call.status,
    attempt: call.attempt,
    outputPayload: null,
    errorMessage: null,
    errorCode: null,
    startedAt: input.now,
    completedAt: null,
    deadlineAt: null,
    retryAt: null,
    fencingToken: null,
    unknownAt: null,
    unknownReason: null,
    settledBy: null,
    metadata: planned.content.answered === undefined ? {} : { answeredAs: planned.content.answered.as },
    upgradedParameters: null,
    upgradedDigest: null,
    upgradedVersion: null,
    normalised: planned.content.normalised,
  };
  if (call.status === 'RUNNING') return { ...progress, ...startOf(input, planned.content.timeoutMs) };
  if (!isSettled(call.status)) return progress;
  const { settled } = planned.content;
  return { ...progress, ...outcomeColumns(input, call, settled), normalised: joined(progress, settled?.normalised) };
}

/** What an attempt has from its start: deadline and token are those of the attempt. */
function startOf({ now, token }: Projected, timeoutMs: number | null): ExecutionUpdate {
  const deadlineAt = timeoutMs === null ? null : new Date(now.getTime() + timeoutMs);
  return { startedAt: now, deadlineAt, fencingToken: token };
}

function outcomeColumns(
  { now: completedAt }: Projected,
  call: OpenCall,
  content: OutcomeContent = {},
): ExecutionUpdate {
  if (call.status === 'SUCCESS') {
    return { outputPayload: content.output ?? null, errorMessage: null, errorCode: null, completedAt };
  }
  return { errorMessage: content.error?.message ?? null, errorCode: content.error?.code ?? null, completedAt };
}

/** The notes of the params with those of the outcome. */
function joined({ normalised }: { normalised: Normalised }, notes: Normalised = null): Normalised {
  return notes === null || notes.length === 0 ? normalised : [...(normalised ?? []), ...notes];
}

function updateExecutions(input: Projected): Map<string, ExecutionUpdate> {
  const before = input.before.context.calls;
  const after = callsAfter(before, input.event) ?? before;
  const updates = new Map<string, ExecutionUpdate>();
  if (input.event.type === 'model.calledTools') return updates;
  for (const [place, call] of after.entries()) {
    const change = changeOf(input, before[place] as OpenCall, call);
    if (Object.keys(change).length > 0) updates.set(call.executionId, change);
  }
  return updates;
}

function changeOf(input: Projected, before: OpenCall, after: OpenCall): ExecutionUpdate {
  const change: ExecutionUpdate = {};
  if (input.event.type === 'approval.amended' && input.event.executionId === after.executionId) {
    Object.assign(change, amendedColumns(input, input.event, rowOf(input.executions, after)));
  }
  if (before.status !== after.status) change.status = after.status;
  if (before.attempt !== after.attempt) {
    Object.assign(change, { attempt: after.attempt }, startOf(input, timeoutOf(input, after)));
    if (before.status === 'TIMED_OUT') Object.assign(change, NOT_SETTLED);
    const { errorMessage, retryAt } = rowOf(input.executions, before);
    if (errorMessage !== null || retryAt !== null) Object.assign(change, NOT_FAILED);
    Object.assign(change, upgradeColumns(input.event, after.executionId), claimColumns(input.event, after.executionId));
  }
  Object.assign(change, heldColumns(input.event, after.executionId));
  if (before.unknownReason !== after.unknownReason) {
    change.unknownReason = after.unknownReason;
    change.unknownAt = after.unknownReason === null ? null : input.now;
    if (after.unknownReason !== null) Object.assign(change, reportOf(input.event, after.executionId));
  }
  if (waitsToRetry(after) && !waitsToRetry(before))
    Object.assign(change, failureOf(input.event, after.executionId, input.now));
  if (waitsToRetry(before) && (isSettled(after.status) || after.unknownReason !== null)) change.retryAt = null;
  if (before.status !== after.status && isSettled(after.status)) {
    const content = contentFor(input.event, after.executionId);
    const normalised = joined(rowOf(input.executions, after), content.normalised);
    const settledBy = byOf(input.event, after.executionId);
    Object.assign(change, outcomeColumns(input, after, content), { settledBy, normalised });
    if (after.doubt !== undefined) change.metadata = withDoubt(rowOf(input.executions, after), after.doubt);
  }
  return change;
}

/** Params of a person's: row, digest and key are theirs from then on. */
function amendedColumns(
  { sessionId, before }: Projected,
  { by, content }: EventOf<'approval.amended'>,
  row: ExecutionRow,
): ExecutionUpdate {
  const { params: inputParameters, paramsDigest, repeatable, normalised } = content;
  const { toolName, ordinal } = row;
  const turnIndex = before.context.callTurnIndex ?? 0;
  const parts = { sessionId, turnIndex, toolName, digest: paramsDigest, ...(repeatable ? { ordinal } : {}) };
  const idempotencyKey = turnIdempotencyKey(parts);
  return {
    inputParameters,
    paramsDigest,
    idempotencyKey,
    ...guardColumns(content),
    normalised,
    metadata: { ...row.metadata, amendedBy: by },
    ...amendedVersionColumns(content, row),
  };
}

/** What keys and budgets know a call by. */
function guardColumns({ claim, costMicroMoney = null }: { claim?: ClaimContent; costMicroMoney?: number | null }) {
  return { claimDigest: claim?.digest ?? null, claimGeneration: claim?.generation ?? null, costMicroMoney };
}

/** Who settled an execution, where that was not its own attempt. */
function byOf(event: SessionEvent, executionId: string): string | null {
  if ('by' in event) return event.by;
  const results = event.type === 'tool.settled' ? event.results : [];
  return results.find((result) => result.executionId === executionId)?.by ?? null;
}

/** What a call that was given up loses when it runs again. */
const NOT_SETTLED: ExecutionUpdate = {
  completedAt: null,
  errorMessage: null,
  errorCode: null,
  settledBy: null,
};

/** The row of a call. The machine and the rows must know the same calls. */
function rowOf(executions: readonly ExecutionRow[], { executionId }: OpenCall): ExecutionRow {
  const row = executions.find((execution) => execution.executionId === executionId);
  if (row !== undefined) return row;
  throw new TurnlockError('INVARIANT_BROKEN', {
    message: `execution has no row: ${executionId} (found none, wanted that of an open call)`,
    details: { executionId },
  });
}

function timeoutOf({ event }: Projected, call: OpenCall): number | null {
  const started = event.type === 'execution.started' ? event.executions : [];
  const found = started.find(({ executionId }) => executionId === call.executionId);
  return found === undefined ? 0 : found.timeoutMs;
}

/** What `event` says of the outcome of one execution. */
function contentFor(event: SessionEvent, executionId: string): OutcomeContent {
  switch (event.type) {
    case 'tool.settled':
    case 'tool.evidenced':
      return event.results.find((result) => result.executionId === executionId)?.content ?? {};
    case 'execution.refused':
      return event.executions.find((refused) => refused.executionId === executionId)?.content ?? {};
    case 'execution.settledByPerson':
    case 'approval.denied':
    case 'approval.superseded':
    case 'input.expired':
    case 'run.cancelled':
      return event.content;
    case 'user.messaged':
      return { output: event.content.text, normalised: event.content.normalised };
    case 'limit.met':
    case 'model.failed':
      return { error: { code: event.code, message: event.content.message } };
    default:
      return {};
  }
}

/** The tool turns of an assistant turn: written together, in call order, by the commit that settles its last call. */
function answerCalls(input: Projected, executions: readonly ExecutionRow[], callTurnId: string | null): TurnRow[] {
  const { before, after, event } = input;
  const calls = callsAfter(before.context.calls, event) ?? before.context.calls;
  if (after.context.calls.length > 0 || calls.length === 0) return [];
  const ownTurns = event.type === 'model.calledTools' ? 1 : 0;
  return calls
    .flatMap((call) => call.ordinals.map((ordinal) => ({ ordinal, execution: rowOf(executions, call) })))
    .sort((a, b) => a.ordinal - b.ordinal)
    .map(({ ordinal, execution }, place) => ({
      ...emptyTurn(input, ownTurns + place),
      content: outcomeText(execution),
      parts: [{ type: 'toolResult', ordinal, toolName: execution.toolName, outcome: outcomeOf(execution.status) }],
      executionId: execution.executionId,
      callTurnId,
      callOrdinal: ordinal,
    }));
}

/**
 * What evidence changes of an execution whose tool turn is written: one that was given up has its outcome after all. That its last attempt
 * failed is none where one before it may have acted.
 */
function lateUpdates({ event, late, now }: Projected): [string, ExecutionUpdate][] {
  if (event.type !== 'tool.evidenced' || late == null || late.status !== 'TIMED_OUT') return [];
  const [result] = event.results;
  if (result === undefined || result.attempt !== late.attempt || leavesDoubt(late, result)) return [];
  const { output = null, error, normalised } = result.content;
  const settled = { completedAt: now, normalised: joined(late, normalised), settledBy: result.by ?? null };
  const update: ExecutionUpdate =
    result.outcome === 'succeeded'
      ? { status: 'SUCCESS', outputPayload: output, errorMessage: null, errorCode: null, ...settled }
      : { status: 'FAILED', errorMessage: error?.message ?? null, errorCode: error?.code ?? null, ...settled };
  return [[late.executionId, update]];
}

/** The system turn by which the model hears of evidence that came after the tool turn. */
function lateNotices(input: Projected): TurnRow[] {
  const { event, late } = input;
  if (event.type !== 'tool.evidenced' || late == null || event.systemTurns === 0) return [];
  return event.results.map((result, place) => {
    const content = lateText(late, result);
    return { ...emptyTurn(input, place), role: 'system', content, parts: [{ type: 'text', text: content }] };
  });
}

function modelCallOf(event: SessionEvent): ModelCallContent | null {
  switch (event.type) {
    case 'model.replied':
    case 'model.calledTools':
    case 'model.attemptFailed':
    case 'model.failed':
    case 'limit.met':
      return event.content.modelCall ?? null;
    default:
      return null;
  }
}
