import fc from 'fast-check';
import type {
  AttemptResult,
  PlannedCall,
  SessionEvent,
  SessionEventType,
  StartedAttempt,
} from '../../machines/session-event.ts';
import { amended, callContent, modelContent, userContent } from './sample-events.ts';
import type { Place, SessionModel } from './session-model.ts';

/** What a random walk decides before it knows where it is: {@link eventOf} makes an event of it that mostly fits. */
export interface Choice {
  /** Picks the event: among those that the model's state is made for, or, seldom, among all. */
  event: number;
  /** Picks among the calls that the event could be about. */
  who: number;
  /** Picks among outcomes and other small alternatives. */
  how: number;
  /** 0 makes the event unfit in some way; anything else leaves it be. */
  luck: number;
  calls: { verdict: number; copies: number; isQuestion: boolean; succeeds: boolean }[];
}

/** Where each event belongs. A name more or less than in the union does not compile. */
const HOME: Record<SessionEventType, string> = {
  'user.messaged': 'IDLE IDLE IDLE AWAITING_INPUT AWAITING_INPUT',
  'model.calledTools': 'PLANNING PLANNING PLANNING PLANNING PLANNING PLANNING',
  'model.replied': 'PLANNING',
  'model.attemptFailed': 'PLANNING',
  'model.failed': 'PLANNING',
  'execution.started': 'EXECUTING_TOOL EXECUTING_TOOL EXECUTING_TOOL',
  'execution.held': 'EXECUTING_TOOL EXECUTING_TOOL',
  'execution.refused': 'EXECUTING_TOOL',
  'tool.settled': 'EXECUTING_TOOL EXECUTING_TOOL EXECUTING_TOOL EXECUTING_TOOL',
  'tool.attemptFailed': 'EXECUTING_TOOL EXECUTING_TOOL',
  'tool.outcomeUnknown': 'EXECUTING_TOOL EXECUTING_TOOL EXECUTING_TOOL',
  'tool.evidenced': 'EXECUTING_TOOL AWAITING_INPUT AWAITING_INPUT PLANNING IDLE FAILED',
  'approval.granted': 'AWAITING_INPUT AWAITING_INPUT AWAITING_INPUT EXECUTING_TOOL',
  'approval.denied': 'AWAITING_INPUT EXECUTING_TOOL',
  'approval.amended': 'AWAITING_INPUT EXECUTING_TOOL',
  'approval.superseded': 'AWAITING_INPUT EXECUTING_TOOL',
  'input.expired': 'AWAITING_INPUT',
  'execution.settledByPerson': 'AWAITING_INPUT AWAITING_INPUT AWAITING_INPUT EXECUTING_TOOL',
  'run.cancelled': 'EXECUTING_TOOL AWAITING_INPUT',
  'limit.met': 'EXECUTING_TOOL',
  'session.retried': 'FAILED FAILED FAILED FAILED FAILED',
  'session.completed': 'FAILED',
  'session.forked': 'IDLE',
  'message.enqueued': '',
  'message.rejected': '',
  'worker.tookOver': 'EXECUTING_TOOL',
  'lease.released': '',
  'machine.upgraded': '',
  'memory.stored': '',
  'content.erased': '',
};

/** Every event that a session can take. */
export const EVERY_EVENT = Object.keys(HOME) as SessionEventType[];

const small = fc.nat({ max: 11 });

const choice: fc.Arbitrary<Choice> = fc.record({
  event: fc.nat({ max: 999 }),
  who: small,
  how: small,
  luck: small,
  calls: fc.array(
    fc.record({
      verdict: fc.nat({ max: 3 }),
      copies: fc.integer({ min: 1, max: 3 }),
      isQuestion: fc.boolean(),
      succeeds: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5, size: 'max' },
  ),
});

/** A random walk through the life of a session. */
export const walk: fc.Arbitrary<Choice[]> = fc.array(choice, { minLength: 1, maxLength: 40, size: 'max' });

function typeOf({ event, luck }: Choice, { state }: SessionModel): SessionEventType {
  const home = EVERY_EVENT.flatMap((type) => HOME[type].split(' ').flatMap((of) => (of === state ? [type] : [])));
  const among = luck === 2 || home.length === 0 ? EVERY_EVENT : home;
  return among[event % among.length] as SessionEventType;
}

/** The event of one step, about the calls that `model` has open. */
export function eventOf(step: Choice, model: SessionModel): SessionEvent {
  const { how, luck } = step;
  const type = typeOf(step, model);
  const by = 'ada';
  const content = {};
  const runId = luck === 0 ? 'run-of-others' : (model.runId ?? 'run-of-nobody');
  switch (type) {
    case 'user.messaged': {
      const [asked] = pick(step, model, 'answer');
      const answers = model.places.answer.size > 0 && luck !== 1 ? { answersExecutionId: asked as string } : {};
      return { type, runId: `run-${model.turns}`, content: userContent, ...answers };
    }
    case 'model.replied':
      return { type, runId, final: how === 0, content: modelContent };
    case 'model.calledTools':
      return { type, runId, calls: plan(step, model), content: modelContent };
    case 'model.attemptFailed':
      return { type, runId, retryInMs: 1, content: { message: '' } };
    case 'model.failed':
    case 'limit.met':
      return { type, runId, code: 'LIMIT_MODEL_CALLS', content: { message: '' } };
    case 'execution.started':
      return {
        type,
        executions: pick(step, model, 'queued', 'again', 'retrying', 'running', 'gaveUp').map((executionId) => ({
          executionId,
          attempt: (model.attempts.get(executionId) ?? 0) + (luck === 1 ? 2 : 1),
          timeoutMs: 1_000,
          ...BEFORE[how % 4],
        })),
      };
    case 'execution.held':
      return { type, executionIds: pick(step, model, 'queued', 'again') };
    case 'tool.settled':
      return { type, results: pick(step, model, 'running', 'retrying').map((call) => resultOf(call, step, model)) };
    case 'tool.attemptFailed':
      return {
        type,
        results: pick(step, model, 'running', ...(luck === 2 ? (['retrying'] as const) : [])).map((executionId) => ({
          executionId,
          attempt: attemptOf(executionId, step, model),
          retryInMs: 10,
          ...(how % 3 === 0 ? { unknown: 'reported' as const } : {}),
          content: { error: { code: 'TOOL_FAILED', message: 'not now' } },
        })),
      };
    case 'tool.evidenced':
      return {
        type,
        results: pick(step, model, 'unknown', 'again', 'retrying', 'gaveUp', 'running', 'done').map((call) => ({
          ...resultOf(call, step, model),
          outcome: how % 4 === 1 ? 'failed' : 'succeeded',
        })),
        systemTurns: how % 2,
      };
    case 'tool.outcomeUnknown':
      return {
        type,
        executions: pick(step, model, 'running').map((executionId) => ({
          executionId,
          attempt: attemptOf(executionId, step, model),
          reason: (['crash', 'lease', 'timeout', 'reported'] as const)[how % 4] as 'crash',
        })),
      };
    case 'approval.granted':
      return { type, executionId: pickOne(step, model, 'approval'), by };
    case 'approval.amended':
      return { ...amended(pickOne(step, model, 'approval')), by };
    case 'approval.superseded':
      return { type, executionIds: pick(step, model, 'approval', 'answer'), by, content };
    case 'execution.refused': {
      const executions = pick(step, model, 'queued').map((executionId) => ({ executionId, content }));
      return { type, executions };
    }
    case 'approval.denied':
      return { type, executionId: pickOne(step, model, 'approval', 'answer'), by, content };
    case 'input.expired':
      return { type, executionIds: pick(step, model, 'approval', 'answer'), fails: how < 4, content };
    case 'execution.settledByPerson': {
      const outcome = (['runAgain', 'succeeded', 'failed'] as const)[how % 3] as 'runAgain';
      return {
        type,
        executionId: pickOne(step, model, 'unknown', 'again', 'queued', 'answer', 'retrying'),
        outcome,
        by,
        content,
      };
    }
    case 'run.cancelled':
      return { type, by, content };
    case 'session.retried':
      return { type, runId: `run-${model.turns}-again`, by };
    case 'session.completed':
    case 'lease.released':
    case 'content.erased':
      return { type, by };
    case 'session.forked':
      return { type, originSessionId: 'session-0', originTurnIndex: how, by };
    case 'message.enqueued':
      return { type, runId };
    case 'message.rejected':
      return { type, runId, code: 'SESSION_BUSY' };
    case 'worker.tookOver':
      return { type, holder: 'worker-2' };
    case 'machine.upgraded':
      return { type, fromVersion: 0, toVersion: 1, snapshot: {} };
    case 'memory.stored':
      return { type, memoryIds: [] };
  }
}

/** What is known of the attempts before the next one. */
const BEFORE: Pick<StartedAttempt, 'before'>[] = [
  {},
  { before: 'crash' },
  { before: 'notDone' },
  { before: 'timeout' },
];

/** Some of the calls in the given places, in call order; with bad luck a call of nobody, one twice, or none at all. */
function pick({ who, how, luck }: Choice, model: SessionModel, ...places: Place[]): string[] {
  const calls = model.calls.filter((call) => places.some((place) => model.places[place].has(call)));
  if (luck === 0) return [[], ['call-of-nobody'], [...calls, ...calls], model.calls][who % 4] as string[];
  const first = calls[who % Math.max(calls.length, 1)] ?? 'call-of-nobody';
  return how % 2 === 0 ? [first] : calls;
}

function pickOne(step: Choice, model: SessionModel, ...places: Place[]): string {
  return pick({ ...step, how: 0 }, model, ...places)[0] ?? 'call-of-nobody';
}

function attemptOf(call: string, { luck }: Choice, model: SessionModel): number {
  return (model.attempts.get(call) ?? 0) - (luck === 1 ? 1 : 0);
}

function resultOf(executionId: string, step: Choice, model: SessionModel): AttemptResult {
  const outcome = (['succeeded', 'failed', 'timedOut', 'succeeded'] as const)[step.how % 4] as 'succeeded';
  const attempt = attemptOf(executionId, step, model);
  return { executionId, attempt, outcome, content: { output: executionId } };
}

/** Calls whose places interleave: every call's first place before any second one, as far as luck has it. */
function plan({ calls, how, luck }: Choice, model: SessionModel): PlannedCall[] {
  const verdicts =
    how % 2 === 0 ? (['start', 'queue', 'settled', 'start'] as const) : (['ask', 'queue', 'settled', 'ask'] as const);
  const rounds = [0, 1, 2].flatMap((round) => calls.flatMap(({ copies }, call) => (round < copies ? [call] : [])));
  const planned = calls.map(({ verdict, isQuestion, succeeds }, call): PlannedCall => {
    const chosen = verdicts[verdict] as PlannedCall['verdict'];
    return {
      executionId: `turn-${model.turns}-call-${call}`,
      ordinals: rounds.flatMap((of, ordinal) => (of === call ? [ordinal] : [])),
      verdict: chosen,
      ...(chosen === 'ask' && isQuestion ? { waitsFor: 'answer' as const } : {}),
      ...(chosen === 'settled' ? { outcome: succeeds ? ('succeeded' as const) : ('failed' as const) } : {}),
      content: callContent({ toolName: `tool-${call}`, paramsDigest: `digest-${call}` }),
    };
  });
  if (luck !== 0) return planned;
  if (how > 9) return [];
  return planned.map((call, place) => (place === 0 ? call : { ...call, ...UNFIT_PLANS[how % 3] }));
}

const UNFIT_PLANS: Partial<PlannedCall>[] = [{ ordinals: [] }, { ordinals: [99] }, { executionId: 'the-same' }];
