import type { Json, TokenUsage } from '../../machines/event-content.ts';
import type { EffectClass } from '../../machines/execution-status.ts';
import type { SessionEventType } from '../../machines/session-event.ts';
import type { SessionState } from '../../machines/session-state.ts';
import type { ModelRequest, ModelResponse } from '../models/model.contract.ts';

/** Where a trace goes on, as W3C Trace Context writes it. */
export interface TraceCarrier {
  traceparent: string;
  tracestate?: string;
}

/** The session that something is told of. */
export interface ObservedSession {
  tenantId: string;
  sessionId: string;
  agentName: string;
  agentVersion: number;
}

/** A run that this process drives from now on, or goes on with. */
export interface ObservedRun extends ObservedSession {
  runId: string;
  /** What was stored with the message that began the run; `null` where nothing was. The same in every process. */
  carrier: TraceCarrier | null;
  /** What let this process drive it: `user.messaged`, `session.retried`, or `worker.tookOver` where somebody else began it. */
  begunBy: SessionEventType;
  /** The fencing token under which it is driven. */
  token: number;
  /** Whether a call of this process asked for it: then the caller's span is active. A worker's look and a message that waited are none. */
  isByCaller: boolean;
}

/** One attempt of a model call. */
export interface ObservedModelCall {
  modelId: string;
  /** As the model says it; `null` where it does not. */
  provider: string | null;
  /** 1 for the first attempt of this call. */
  attempt: number;
  /** What the reply is to be: `json` where the agent declares an output. */
  outputType: 'text' | 'json';
}

/** How an attempt of a model call ended. */
export interface ModelCallEnd {
  /** `null` where there is none. */
  response: ModelResponse | null;
  usage: TokenUsage;
  /** Code of the error; `null` where the answer counts. */
  errorCode: string | null;
}

/** One attempt of a tool. */
export interface ObservedToolCall {
  executionId: string;
  toolName: string;
  toolVersion: number;
  /** `null` where this build has no such tool. */
  description: string | null;
  effect: EffectClass;
  /** 1 for the first attempt. */
  attempt: number;
  /** The provider's id of the call, which is no identity; `null` where it gave none. */
  providerCallId: string | null;
  /** What the tool is called with: content. */
  params: Json;
}

/** How an attempt of a tool ended, as far as this process can say. */
export interface ToolCallEnd {
  /** `attemptFailed`: tried again. `unknown`, `timedOut`: it may have acted. `abandoned`: the drive was stopped meanwhile. */
  outcome: 'succeeded' | 'failed' | 'attemptFailed' | 'timedOut' | 'unknown' | 'abandoned';
  /** `null` where it succeeded. */
  errorCode: string | null;
  /** What it returned, as it is stored: content. */
  output?: Json;
}

/** How the drive of a run ended in this process. */
export interface RunEnd {
  /** The state in which the session rests, or sleeps until its children wake it; `null` where somebody else goes on with it. */
  state: SessionState | null;
  /** Code of the error of a run that FAILED, or of what ended the drive. */
  errorCode: string | null;
}

/** A commit that is durable. Repeats of one are not told. */
export interface ObservedCommit extends ObservedSession {
  runId: string | null;
  event: SessionEventType;
  from: SessionState;
  to: SessionState;
  /** The sequence of the transition. */
  sequence: number;
  /** Milliseconds from the first try on, all of them together. */
  durationMs: number;
  /** Milliseconds until the session's lock was held, of the last try: waiting for a connection and one round trip included. */
  lockWaitMs: number;
  /** How often it was tried: 1 where the first one held. */
  tries: number;
  /** Attempts that failed and are tried again. */
  retries: { of: 'model' | 'tool'; count: number } | null;
  /** Calls of which nothing says how they ended, and which nobody tries again by itself. */
  unknownOutcomes: number;
  /** Rounds of asking a person that it opened, by what is asked. */
  asked: { approval: number; answer: number; unknown: number };
  /** Messages that wait after it. */
  waiting: number;
  /** Code of the error that ended the run in FAILED, or of the attempt that failed; `null` where there is none. */
  errorCode: string | null;
}

/** A write that was refused, or that failed. Nothing was written. */
export interface RefusedCommit extends Pick<ObservedSession, 'tenantId' | 'sessionId'> {
  /** The event, or the intent that would have become one. */
  event: string;
  /** Of the error. TOKEN_STALE: a holder that was one no more. */
  code: string;
  durationMs: number;
}

/** A span around work of ours or of the caller's. */
export interface ObservedWork<End> {
  /** Calls `work` at once, once, and returns what it returns; what it makes of spans belongs into this one. */
  run<Result>(work: () => Result): Result;
  end(end: End): void;
}

/** An attempt of a model call. */
export interface ObservedAsking extends ObservedWork<ModelCallEnd> {
  /** What the model is asked, right before it is: content. */
  asked(request: ModelRequest): void;
}

/** The drive of a run in this process. */
export interface RunTelemetry extends ObservedWork<RunEnd> {
  /** What the message of a child session is to hold, so that its run is part of this trace. */
  carrier(): TraceCarrier | null;
  modelCall(call: ObservedModelCall): ObservedAsking;
  toolCall(call: ObservedToolCall): ObservedWork<ToolCallEnd>;
}

/** A message that is about to be stored. */
export interface ObservedSending extends ObservedWork<{ errorCode: string | null }> {
  /** What is stored with it, so that its run is part of this trace wherever it is driven; `null`: nothing is. */
  carrier(): TraceCarrier | null;
}

/**
 * What a runtime tells of itself: plain calls, which must be quick. None of them can break or change a run: what they throw is a warning,
 * once, and what they are told is a copy. `turnlock/telemetry` implements it for OpenTelemetry.
 */
export interface Telemetry {
  /** A message is about to be sent to `session`. */
  sending(session: ObservedSession): ObservedSending;
  /** This process begins to drive a run, or goes on with it. */
  run(run: ObservedRun): RunTelemetry;
  committed(commit: ObservedCommit): void;
  refused(refused: RefusedCommit): void;
  /** A session was taken over; `isLost`: its worker had not given it back. */
  tookOver(session: ObservedSession & { isLost: boolean }): void;
}
