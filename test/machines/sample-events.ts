import type { CallContent, ModelCallContent, ModelTurnContent, UserTurnContent } from '../../machines/event-content.ts';
import type { AttemptResult, EventOf, PlannedCall, StartedAttempt } from '../../machines/session-event.ts';

/** The run that {@link messaged} begins. */
export const RUN = 'run-1';

/** A user turn. */
export const userContent: UserTurnContent = { text: 'Refund order 42', parts: [], metadata: {}, normalised: null };

const modelCall: ModelCallContent = {
  modelCallId: 'model-call-1',
  attempt: 1,
  modelId: 'scripted',
  agentVersion: 1,
  tools: [],
  windowFrom: 0,
  windowTo: 0,
  memories: [],
  startedAt: 0,
  latencyMs: 0,
  usage: {},
  finishReason: 'stop',
  providerRequestId: null,
  errorCode: null,
  errorMessage: null,
};

/** An assistant turn. */
export const modelContent: ModelTurnContent = {
  text: 'Done',
  parts: [],
  usage: {},
  metadata: {},
  normalised: null,
  modelCall,
};

/** The content of a call of the tool `refund`. */
export function callContent(change: Partial<CallContent> = {}): CallContent {
  return {
    toolName: 'refund',
    toolVersion: 1,
    effect: 'nonRepeatable',
    repeatable: false,
    params: {},
    paramsDigest: 'digest',
    providerCallId: null,
    rawInput: null,
    timeoutMs: 30_000,
    normalised: null,
    ...change,
  };
}

/** A planned call; its id is `verdict` and its place unless told otherwise. */
export function planned(ordinal: number, change: Partial<PlannedCall> = {}): PlannedCall {
  return { executionId: `call-${ordinal}`, ordinals: [ordinal], verdict: 'start', content: callContent(), ...change };
}

/** A message that begins {@link RUN}. */
export const messaged: EventOf<'user.messaged'> = { type: 'user.messaged', runId: RUN, content: userContent };

/** An answer of the model without calls. */
export const replied: EventOf<'model.replied'> = {
  type: 'model.replied',
  runId: RUN,
  final: false,
  content: modelContent,
};

/** An answer of the model with calls. */
export function calledTools(...calls: PlannedCall[]): EventOf<'model.calledTools'> {
  return { type: 'model.calledTools', runId: RUN, calls, content: modelContent };
}

/** A person's agreement to other params. */
export function amended(executionId: string): EventOf<'approval.amended'> {
  const content = { toolVersion: 1, params: { amount: 1 }, paramsDigest: 'other', repeatable: false, normalised: null };
  return { type: 'approval.amended', executionId, by: 'ada', content };
}

/** How one attempt ended; attempt 1 and success unless told otherwise. */
export function result(executionId: string, change: Partial<AttemptResult> = {}): AttemptResult {
  return { executionId, attempt: 1, outcome: 'succeeded', content: { output: 'ok' }, ...change };
}

/** Results of attempts, from their worker. */
export function settled(...results: AttemptResult[]): EventOf<'tool.settled'> {
  return { type: 'tool.settled', results };
}

/** Success of attempt 1 of each of the given calls, as evidence; `systemTurns` counts where it is late. */
export function evidenced(systemTurns: number, ...executionIds: string[]): EventOf<'tool.evidenced'> {
  const results = executionIds.map((executionId) => ({
    executionId,
    attempt: 1,
    outcome: 'succeeded' as const,
    content: { output: 'ok' },
  }));
  return { type: 'tool.evidenced', results, systemTurns };
}

/** The start of the given attempt. */
export function started(
  executionId: string,
  attempt: number,
  more: Pick<StartedAttempt, 'before'> = {},
): EventOf<'execution.started'> {
  return { type: 'execution.started', executions: [{ executionId, attempt, timeoutMs: 30_000, ...more }] };
}

/** Nothing says how attempt 1 ended. */
export function becameUnknown(executionId: string, attempt = 1): EventOf<'tool.outcomeUnknown'> {
  return { type: 'tool.outcomeUnknown', executions: [{ executionId, attempt, reason: 'crash' }] };
}

/** What a person did. */
export function settledByPerson(
  executionId: string,
  outcome: EventOf<'execution.settledByPerson'>['outcome'],
): EventOf<'execution.settledByPerson'> {
  return { type: 'execution.settledByPerson', executionId, outcome, by: 'ada', content: {} };
}

/** Agreement of a person. */
export function granted(executionId: string): EventOf<'approval.granted'> {
  return { type: 'approval.granted', executionId, by: 'ada' };
}

/** Refusal by a person. */
export function denied(executionId: string): EventOf<'approval.denied'> {
  return { type: 'approval.denied', executionId, by: 'ada', content: {} };
}

/** Nobody answered in time. */
export function expired(fails: boolean, ...executionIds: string[]): EventOf<'input.expired'> {
  return { type: 'input.expired', executionIds, fails, content: {} };
}

/** The run is cancelled. */
export const cancelled: EventOf<'run.cancelled'> = { type: 'run.cancelled', by: 'ada', content: {} };

/** A bound was met. */
export const limitMet: EventOf<'limit.met'> = {
  type: 'limit.met',
  runId: RUN,
  code: 'LIMIT_MODEL_CALLS',
  content: { message: 'too many' },
};

/** The model failed for good. */
export const modelFailed: EventOf<'model.failed'> = {
  type: 'model.failed',
  runId: RUN,
  code: 'MODEL_FAILED',
  content: { message: 'no' },
};

/** One attempt of the model failed. */
export const attemptFailed: EventOf<'model.attemptFailed'> = {
  type: 'model.attemptFailed',
  runId: RUN,
  retryInMs: 10,
  content: { message: 'busy' },
};

/** The session ends. */
export const completed: EventOf<'session.completed'> = { type: 'session.completed', by: 'ada' };

/** A failed session begins again. */
export const retried: EventOf<'session.retried'> = { type: 'session.retried', runId: 'run-2', by: 'ada' };

/** Another worker goes on. */
export const tookOver: EventOf<'worker.tookOver'> = { type: 'worker.tookOver', holder: 'worker-2' };
