import { assign, setup } from 'xstate';
import { callsAfter, countAnswers, type OpenCall, planCalls, reduceCalls, stateOfCalls } from './open-calls.ts';
import type { EventOf, EvidencedResult, SessionEvent } from './session-event.ts';
import type { SessionState } from './session-state.ts';

/** What the session machine remembers: bounded, JSON, the same however long the session is. */
export interface SessionContext {
  /** The run that is under way, waits for a person, or ended last. */
  runId: string | null;
  /** The index that the next turn will have. */
  nextTurnIndex: number;
  /** Model responses accepted in this run. */
  modelCalls: number;
  /** Failed attempts of the model call that is owed. */
  failedModelAttempts: number;
  /** Index of the assistant turn whose calls are open. */
  callTurnIndex: number | null;
  /** Every call of that turn, also those that are settled already; empty when none is open. */
  calls: OpenCall[];
  /** Why the last run ended in FAILED. */
  failureCode: string | null;
}

/** Name of the machine in the session's row. */
export const SESSION_MACHINE_ID = 'session';

/** Version of the machine. Raised with every change that an old snapshot or a fold of old events could tell. */
export const SESSION_MACHINE_VERSION = 1;

const initialContext: SessionContext = {
  runId: null,
  nextTurnIndex: 0,
  modelCalls: 0,
  failedModelAttempts: 0,
  callTurnIndex: null,
  calls: [],
  failureCode: null,
};

/** What a machine of `setup` below hands to guards and assignments. */
interface Taken {
  context: SessionContext;
  event: SessionEvent;
}

/** Where the calls take the session, or `null` when `event` does not fit them. */
function destination(taken: Taken): SessionState | null {
  if (!ofPresentRun(taken) || isNewMessage(taken.event)) return null;
  const calls = callsAfter(taken.context.calls, taken.event);
  return calls === null ? null : stateOfCalls(calls);
}

/** A message that answers no question: it begins a run. */
function isNewMessage(event: SessionEvent): boolean {
  return event.type === 'user.messaged' && event.answersExecutionId === undefined;
}

/** An event that names a run names the present one. */
function ofPresentRun({ context, event }: Taken): boolean {
  return !('runId' in event) || event.type === 'user.messaged' || event.runId === context.runId;
}

/** Evidence of which nothing fits an open call any more. What mixes both kinds is two events. */
function isLate(calls: OpenCall[], event: EventOf<'tool.evidenced'>): boolean {
  const fits = (result: EvidencedResult) => reduceCalls(calls, { ...event, results: [result] }) !== null;
  return event.results.length > 0 && !event.results.some(fits);
}

/** Where every call is settled, their tool turns are written and the calls are forgotten. */
function withCalls(context: SessionContext, calls: OpenCall[], ownTurns: number): Partial<SessionContext> {
  if (stateOfCalls(calls) !== 'PLANNING') return { calls, nextTurnIndex: context.nextTurnIndex + ownTurns };
  return {
    calls: [],
    callTurnIndex: null,
    nextTurnIndex: context.nextTurnIndex + ownTurns + countAnswers(calls),
  };
}

const planTools = ({ context, event }: Taken): Partial<SessionContext> => ({
  callTurnIndex: context.nextTurnIndex,
  modelCalls: context.modelCalls + 1,
  failedModelAttempts: 0,
  ...withCalls(context, planCalls((event as EventOf<'model.calledTools'>).calls) ?? [], 1),
});

/** Changes to the calls. The answer to a question becomes that call's tool turn, so no event here writes a turn of its own. */
const moveCalls = (taken: Taken): Partial<SessionContext> =>
  withCalls(taken.context, callsAfter(taken.context.calls, taken.event) ?? taken.context.calls, 0);

/** The way out of a run: every call of the present turn gets its tool turns. */
const closeCalls = ({ context }: Taken): Partial<SessionContext> => ({
  calls: [],
  callTurnIndex: null,
  nextTurnIndex: context.nextTurnIndex + countAnswers(context.calls),
});

/** `can` takes a transition that has neither target nor action for a forbidden one, so a loop names an action that does nothing. */
const everyState = {
  'message.enqueued': { actions: 'loop' },
  'message.rejected': { actions: 'loop' },
  'worker.tookOver': { actions: 'loop' },
  'lease.released': { actions: 'loop' },
  'machine.upgraded': { actions: 'loop' },
  'memory.stored': { actions: 'loop' },
  'content.erased': { actions: 'loop' },
} as const;

const lateFacts = { 'tool.evidenced': { guard: 'isLate', actions: 'addSystemTurns' } } as const;

/** Where an event about calls leads follows from the calls alone; which of these places are within reach, from state and event. */
const toPlanning = { guard: 'leavesNoCall', target: 'PLANNING', actions: 'moveCalls' } as const;
const toExecuting = { guard: 'leavesCallsToRun', target: 'EXECUTING_TOOL', actions: 'moveCalls' } as const;
const toAwaiting = { guard: 'leavesPeopleToAsk', target: 'AWAITING_INPUT', actions: 'moveCalls' } as const;
const anywhere = [toPlanning, toExecuting, toAwaiting] as const;

/**
 * The life of a session. Pure: guards and assignments read snapshot and event only; verdicts of policies, limits hit and times are
 * decided outside and carried in the event. It holds no `invoke` and no `after`: what is owed is read from the snapshot with
 * {@link pendingEffects}. The database enforces the same graph.
 */
export const sessionMachine = setup({
  types: { context: {} as SessionContext, events: {} as SessionEvent },
  guards: {
    isUnused: ({ context }) => context.runId === null && context.nextTurnIndex === 0,
    isPresentRun: ofPresentRun,
    isLate: ({ context, event }) => event.type === 'tool.evidenced' && isLate(context.calls, event),
    isNewMessage: ({ event }) => isNewMessage(event),
    isFinal: (taken) => ofPresentRun(taken) && taken.event.type === 'model.replied' && taken.event.final,
    leavesNoCall: (taken) => destination(taken) === 'PLANNING',
    leavesCallsToRun: (taken) => destination(taken) === 'EXECUTING_TOOL',
    leavesPeopleToAsk: (taken) => destination(taken) === 'AWAITING_INPUT',
    failsByPolicy: (taken) =>
      taken.event.type === 'input.expired' &&
      taken.event.fails &&
      reduceCalls(taken.context.calls, taken.event) !== null,
  },
  actions: {
    loop: () => undefined,
    beginRun: assign(({ context, event }) => ({
      runId: (event as EventOf<'user.messaged'>).runId,
      nextTurnIndex: context.nextTurnIndex + 1,
      modelCalls: 0,
      failedModelAttempts: 0,
      failureCode: null,
    })),
    beginRetry: assign(({ event }) => ({
      runId: (event as EventOf<'session.retried'>).runId,
      modelCalls: 0,
      failedModelAttempts: 0,
      failureCode: null,
    })),
    addPrefix: assign(({ event }) => ({
      nextTurnIndex: (event as EventOf<'session.forked'>).originTurnIndex + 1,
    })),
    addReply: assign(({ context }) => ({
      nextTurnIndex: context.nextTurnIndex + 1,
      modelCalls: context.modelCalls + 1,
      failedModelAttempts: 0,
    })),
    addSystemTurns: assign(({ context, event }) => ({
      nextTurnIndex: context.nextTurnIndex + (event as EventOf<'tool.evidenced'>).systemTurns,
    })),
    countFailedAttempt: assign(({ context }) => ({ failedModelAttempts: context.failedModelAttempts + 1 })),
    planTools: assign(planTools),
    moveCalls: assign(moveCalls),
    closeCalls: assign(closeCalls),
    noteFailure: assign(({ event }) => ({ failureCode: 'code' in event ? event.code : 'INPUT_EXPIRED' })),
  },
}).createMachine({
  id: SESSION_MACHINE_ID,
  context: initialContext,
  initial: 'IDLE',
  states: {
    IDLE: {
      on: {
        ...everyState,
        ...lateFacts,
        'session.forked': { guard: 'isUnused', actions: 'addPrefix' },
        'user.messaged': { guard: 'isNewMessage', target: 'PLANNING', actions: 'beginRun' },
        'session.completed': 'COMPLETED',
      },
    },
    PLANNING: {
      on: {
        ...everyState,
        ...lateFacts,
        'model.calledTools': [
          { guard: 'leavesNoCall', target: 'PLANNING', actions: 'planTools' },
          { guard: 'leavesCallsToRun', target: 'EXECUTING_TOOL', actions: 'planTools' },
          { guard: 'leavesPeopleToAsk', target: 'AWAITING_INPUT', actions: 'planTools' },
        ],
        'model.replied': [
          { guard: 'isFinal', target: 'COMPLETED', actions: 'addReply' },
          { guard: 'isPresentRun', target: 'IDLE', actions: 'addReply' },
        ],
        'model.attemptFailed': { guard: 'isPresentRun', actions: 'countFailedAttempt' },
        'model.failed': { guard: 'isPresentRun', target: 'FAILED', actions: ['closeCalls', 'noteFailure'] },
        'limit.met': { guard: 'isPresentRun', target: 'FAILED', actions: ['closeCalls', 'noteFailure'] },
        'run.cancelled': { target: 'IDLE', actions: 'closeCalls' },
      },
    },
    EXECUTING_TOOL: {
      on: {
        ...everyState,
        'execution.started': toExecuting,
        'execution.held': [toExecuting, toAwaiting],
        'execution.refused': [toPlanning, toExecuting],
        'tool.settled': anywhere,
        'tool.attemptFailed': toExecuting,
        'tool.outcomeUnknown': [toExecuting, toAwaiting],
        'tool.evidenced': [...anywhere, lateFacts['tool.evidenced']],
        // Whoever is asked here is asked beside a call that runs.
        'approval.granted': toExecuting,
        'approval.denied': toExecuting,
        'approval.amended': toExecuting,
        'approval.superseded': toExecuting,
        'execution.settledByPerson': [toPlanning, toExecuting],
        'limit.met': { guard: 'isPresentRun', target: 'FAILED', actions: ['closeCalls', 'noteFailure'] },
        'run.cancelled': { target: 'IDLE', actions: 'closeCalls' },
      },
    },
    AWAITING_INPUT: {
      on: {
        ...everyState,
        'user.messaged': anywhere,
        // Nothing runs here, so nothing can end, and nothing starts before the last answer.
        'execution.held': toAwaiting,
        'tool.evidenced': [...anywhere, lateFacts['tool.evidenced']],
        'approval.granted': [toExecuting, toAwaiting],
        'approval.denied': anywhere,
        'approval.amended': [toExecuting, toAwaiting],
        'approval.superseded': anywhere,
        'execution.settledByPerson': anywhere,
        'input.expired': [
          { guard: 'failsByPolicy', target: 'FAILED', actions: ['closeCalls', 'noteFailure'] },
          ...anywhere,
        ],
        'run.cancelled': { target: 'IDLE', actions: 'closeCalls' },
      },
    },
    FAILED: {
      on: {
        ...everyState,
        ...lateFacts,
        'session.retried': { target: 'PLANNING', actions: 'beginRetry' },
        'session.completed': 'COMPLETED',
      },
    },
    COMPLETED: { type: 'final' },
  },
});
