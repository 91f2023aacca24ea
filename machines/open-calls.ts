import { transition } from 'xstate';
import { type ExecutionStatus, isSettled, type UnknownReason } from './execution-status.ts';
import type {
  AttemptResult,
  EventOf,
  FailedAttempt,
  PlannedCall,
  SessionEvent,
  StartedAttempt,
  Waits,
} from './session-event.ts';
import type { SessionState } from './session-state.ts';
import { type ExecutionEvent, toolExecutionMachine } from './tool-execution.machine.ts';

/** One call of the assistant turn that is being worked on, as the session's snapshot holds it. */
export interface OpenCall {
  executionId: string;
  ordinals: number[];
  status: ExecutionStatus;
  attempt: number;
  waitsFor: Waits | null;
  unknownReason: UnknownReason | null;
  /** Another attempt is owed whose start is not committed yet: a person said so of an unknown call, or the last attempt failed. */
  runAgain: boolean;
  /**
   * Why an attempt that is over may have acted, though the latest one is under way or has failed. Absent where none may, and in every
   * snapshot that was written before it was remembered.
   */
  doubt?: UnknownReason;
}

/** How many tool turns answer `calls`: one for each ordinal. */
export function countAnswers(calls: readonly OpenCall[]): number {
  return calls.reduce((sum, call) => sum + call.ordinals.length, 0);
}

/** Whether `call` is out with a tool right now, as far as the committed state says. */
export function isInFlight(call: OpenCall): boolean {
  return call.status === 'RUNNING' && call.unknownReason === null && !call.runAgain;
}

/** Whether the last attempt of `call` has failed and the next one is owed, by nobody's leave. */
export function waitsToRetry(call: OpenCall): boolean {
  return call.status === 'RUNNING' && call.unknownReason === null && call.runAgain;
}

/** Whether `call` cannot go on before a person decided. */
export function waitsForPerson(call: OpenCall): boolean {
  if (isSettled(call.status)) return false;
  return call.waitsFor !== null || (call.unknownReason !== null && !call.runAgain);
}

/** The state of a session whose present assistant turn has `calls`. No call starts while another one waits for a person. */
export function stateOfCalls(calls: readonly OpenCall[]): SessionState {
  if (calls.every((call) => isSettled(call.status))) return 'PLANNING';
  if (calls.some((call) => isInFlight(call) || waitsToRetry(call))) return 'EXECUTING_TOOL';
  return calls.some(waitsForPerson) ? 'AWAITING_INPUT' : 'EXECUTING_TOOL';
}

/** The calls of a new assistant turn, or `null` when the verdicts contradict each other. */
export function planCalls(planned: readonly PlannedCall[]): OpenCall[] | null {
  const verdicts = new Set(planned.map((call) => call.verdict));
  if (planned.length === 0 || (verdicts.has('ask') && verdicts.has('start'))) return null;
  const ordinals = planned.flatMap((call) => call.ordinals).sort((a, b) => a - b);
  if (ordinals.some((ordinal, place) => ordinal !== place)) return null;
  if (planned.some((call) => call.ordinals.length === 0)) return null;
  if (new Set(planned.map((call) => call.executionId)).size !== planned.length) return null;
  return planned.map(openCall);
}

function openCall(planned: PlannedCall): OpenCall {
  const { executionId, ordinals, verdict } = planned;
  const waitsFor = verdict === 'ask' ? (planned.waitsFor ?? 'approval') : null;
  const call: OpenCall = {
    executionId,
    ordinals,
    status: 'PENDING',
    attempt: 0,
    waitsFor,
    unknownReason: null,
    runAgain: false,
  };
  if (verdict === 'start') return { ...call, status: 'RUNNING', attempt: 1 };
  if (verdict === 'settled') return { ...call, status: planned.outcome === 'succeeded' ? 'SUCCESS' : 'FAILED' };
  return call;
}

/**
 * Every call once `event` happened, before settled ones are forgotten; `null` when the event does not fit.
 *
 * An event that leads out of the run settles what is open: what never started, or failed in every attempt and was not tried again yet, is
 * known not to have happened; of what else was started the outcome is unknown: TIMED_OUT.
 */
export function callsAfter(calls: readonly OpenCall[], event: SessionEvent): OpenCall[] | null {
  switch (event.type) {
    case 'model.calledTools':
      return planCalls(event.calls);
    case 'run.cancelled':
    case 'limit.met':
    case 'model.failed':
      return calls.map(closeCall);
    case 'input.expired':
      return event.fails ? (reduceCalls(calls, event)?.map(closeCall) ?? null) : reduceCalls(calls, event);
    default:
      return reduceCalls(calls, event);
  }
}

function closeCall(call: OpenCall): OpenCall {
  if (isSettled(call.status)) return call;
  const isKnown = call.status === 'PENDING' || (waitsToRetry(call) && call.doubt === undefined);
  const event: ExecutionEvent = { type: isKnown ? 'failed' : 'timedOut' };
  return moved(call, event, { waitsFor: null, runAgain: false }) ?? call;
}

/**
 * The calls after `event`, or `null` when the event does not fit them (another attempt, an execution that is not open, a decision
 * that nobody waits for, no execution at all, one that is named twice). Every change of a status is a transition of the
 * tool-execution machine.
 */
export function reduceCalls(calls: readonly OpenCall[], event: SessionEvent): OpenCall[] | null {
  const next = [...calls];
  const changes = changesOf(event);
  if (changes.length === 0 || new Set(changes.map((change) => change.executionId)).size !== changes.length) return null;
  for (const change of changes) {
    const place = next.findIndex((call) => call.executionId === change.executionId);
    const call = next[place];
    const changed = call && change.apply(call, next);
    if (!changed) return null;
    next[place] = changed;
  }
  return next;
}

interface CallChange {
  executionId: string;
  apply(call: OpenCall, all: readonly OpenCall[]): OpenCall | null;
}

function changesOf(event: SessionEvent): CallChange[] {
  switch (event.type) {
    case 'execution.started':
      return event.executions.map((started) => ({
        executionId: started.executionId,
        apply: (call, all) => startCall(call, started, all),
      }));
    case 'execution.held':
      return event.executionIds.map((executionId) => ({ executionId, apply: holdCall }));
    case 'execution.refused':
      return event.executions.map(({ executionId }) => ({ executionId, apply: refuseStart }));
    case 'tool.settled':
      return event.results.map((result) => ({
        executionId: result.executionId,
        apply: (call) => (mayEnd(call, result) ? endAttempt(call, result) : null),
      }));
    case 'tool.attemptFailed':
      return event.results.map((failed) => ({
        executionId: failed.executionId,
        apply: (call) => failAttempt(call, failed),
      }));
    case 'tool.evidenced':
      return event.results.map((result) => ({
        executionId: result.executionId,
        apply: (call) => (mayBeEvidenced(call, result) ? endAttempt(call, result) : null),
      }));
    case 'tool.outcomeUnknown':
      return event.executions.map(({ executionId, attempt, reason }) => ({
        executionId,
        apply: (call) => (isInFlight(call) && call.attempt === attempt ? { ...call, unknownReason: reason } : null),
      }));
    case 'approval.granted':
    case 'approval.amended':
      return [{ executionId: event.executionId, apply: approveCall }];
    case 'approval.denied':
      return [{ executionId: event.executionId, apply: (call) => refuseCall(call) }];
    case 'approval.superseded':
    case 'input.expired':
      return event.executionIds.map((executionId) => ({ executionId, apply: refuseCall }));
    case 'execution.settledByPerson':
      return [{ executionId: event.executionId, apply: (call) => settleByPerson(call, event) }];
    case 'user.messaged':
      return event.answersExecutionId === undefined
        ? []
        : [{ executionId: event.answersExecutionId, apply: (call) => answerCall(call) }];
    default:
      return [];
  }
}

/** The next attempt of a call that is under way always may; what begins anew waits while a person is asked about a sibling. */
function startCall(call: OpenCall, { attempt, before }: StartedAttempt, all: readonly OpenCall[]): OpenCall | null {
  if (attempt !== call.attempt + 1) return null;
  if (!isInFlight(call) && !waitsToRetry(call) && all.some(waitsForPerson)) return null;
  const next = before === undefined ? call : doubted(call, before === 'notDone' ? undefined : before);
  return moved(next, { type: 'started' }, { attempt, unknownReason: null, runAgain: false });
}

function failAttempt(call: OpenCall, { attempt, unknown }: FailedAttempt): OpenCall | null {
  if (!isInFlight(call) || call.attempt !== attempt) return null;
  return { ...(unknown === undefined ? call : doubted(call, unknown)), runAgain: true };
}

/** `call` with that doubt, or with none. */
function doubted({ doubt: _, ...call }: OpenCall, doubt: UnknownReason | undefined): OpenCall {
  return doubt === undefined ? call : { ...call, doubt };
}

/** What should begin and may not: one that never started waits for leave, one that a person sent again is that person's once more. */
function holdCall(call: OpenCall): OpenCall | null {
  if (call.unknownReason !== null && call.runAgain) return { ...call, runAgain: false };
  return call.status === 'PENDING' && call.waitsFor === null ? { ...call, waitsFor: 'approval' } : null;
}

/** What waits to be tried again has failed: it may end as that where nobody can try any more, or as given up where it may have acted. */
function mayEnd(call: OpenCall, { outcome }: AttemptResult): boolean {
  if (waitsToRetry(call)) return outcome === 'failed' || (outcome === 'timedOut' && call.doubt !== undefined);
  return isInFlight(call);
}

/** Evidence is also about what is unknown or was given up. That the latest attempt failed says nothing of one before it that may have acted. */
function mayBeEvidenced(call: OpenCall, { outcome }: AttemptResult): boolean {
  if (call.status === 'PENDING') return false;
  return outcome !== 'failed' || call.doubt === undefined || isInFlight(call);
}

/**
 * How the latest attempt ended. Where it failed and an attempt before it may have acted, the outcome of the call is unknown, and a person
 * is asked. What somebody else found out (`by`) is about the act, so about every attempt.
 */
function endAttempt(call: OpenCall, result: AttemptResult): OpenCall | null {
  if (call.attempt !== result.attempt) return null;
  const isUnknown = result.outcome === 'failed' && call.doubt !== undefined && result.by === undefined;
  if (isUnknown) return { ...call, unknownReason: call.doubt ?? null, runAgain: false };
  const known = result.outcome === 'timedOut' ? call : doubted(call, undefined);
  return moved(known, { type: result.outcome }, { waitsFor: null, unknownReason: null, runAgain: false });
}

function approveCall(call: OpenCall): OpenCall | null {
  return call.status === 'PENDING' && call.waitsFor === 'approval' ? { ...call, waitsFor: null } : null;
}

/** What may not begin after all, though nobody is asked about it: it never started, so it is known not to have happened. */
function refuseStart(call: OpenCall): OpenCall | null {
  return call.waitsFor === null && call.status === 'PENDING' ? moved(call, { type: 'failed' }, {}) : null;
}

function refuseCall(call: OpenCall): OpenCall | null {
  return call.waitsFor === null ? null : moved(call, { type: 'failed' }, { waitsFor: null });
}

function answerCall(call: OpenCall): OpenCall | null {
  return call.waitsFor === 'answer' ? moved(call, { type: 'succeeded' }, { waitsFor: null }) : null;
}

function settleByPerson(call: OpenCall, event: EventOf<'execution.settledByPerson'>): OpenCall | null {
  if (isSettled(call.status) || isInFlight(call) || waitsToRetry(call)) return null;
  if (event.outcome === 'runAgain') {
    return call.unknownReason !== null && !call.runAgain ? { ...call, runAgain: true } : null;
  }
  const known = doubted(call, undefined);
  return moved(known, { type: event.outcome }, { waitsFor: null, unknownReason: null, runAgain: false });
}

/** `call` after `event` of the tool-execution machine, or `null` where that machine does not take it. */
function moved(call: OpenCall, event: ExecutionEvent, change: Partial<OpenCall>): OpenCall | null {
  const status = nextStatus(call.status, event);
  return status === null ? null : { ...call, ...change, status };
}

/** The status after `event`, or `null` where the tool-execution machine refuses it. */
export function nextStatus(status: ExecutionStatus, event: ExecutionEvent): ExecutionStatus | null {
  const before = toolExecutionMachine.resolveState({ value: status });
  if (!before.can(event)) return null;
  const [after] = transition(toolExecutionMachine, before, event);
  return after.value as ExecutionStatus;
}
