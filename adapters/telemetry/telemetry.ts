import { context, type MeterProvider, metrics, SpanKind, type TracerProvider, trace } from '@opentelemetry/api';
import { systemEnvironment } from '../../environment.ts';
import { TurnlockError } from '../../errors.ts';
import { createInstruments } from './instruments.ts';
import { endSpan, runTelemetry, type Shared, sessionAttributes } from './run-telemetry.ts';
import type { ObservedCommit, Telemetry } from './telemetry.contract.ts';
import { carrierOf } from './trace-parent.ts';

export type { Telemetry } from './telemetry.contract.ts';

/** What `openTelemetry` takes. */
export interface OpenTelemetryOptions {
  /**
   * Whether spans hold contents: instructions, messages, reasoning, tool definitions, params and outputs, as JSON of up to 65,536
   * characters each. They go wherever your spans go. Default false: no content is in any span or metric.
   */
  content?: boolean;
  /** Where spans come from. Default: the global one, as it is when the runtime is made. */
  tracerProvider?: TracerProvider;
  /** Where metrics come from. Default: the global one, as it is when the runtime is made. */
  meterProvider?: MeterProvider;
}

const SCOPE = 'turnlock';

const OPTIONS: readonly string[] = [
  'content',
  'tracerProvider',
  'meterProvider',
] satisfies (keyof OpenTelemetryOptions)[];

/**
 * Spans and metrics of a runtime for OpenTelemetry, by the GenAI semantic conventions 0.1.0: hand it to `createRuntime` as `telemetry`. It
 * brings no SDK: without one it does nothing, and contexts within tools need a context manager, as the SDKs of OpenTelemetry register it.
 *
 * One trace holds a run, in whatever processes it is driven: where the trace goes on is stored with the message.
 *
 * @throws OPTIONS_INVALID for an option that is not accepted.
 *
 * @example
 * const runtime = await createRuntime({ database: pglite('.turnlock'), agents: [support], telemetry: openTelemetry() });
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  checkOptions(options);
  const { content = false, tracerProvider, meterProvider } = options;
  const tracer = (tracerProvider ?? trace).getTracer(SCOPE);
  const instruments = createInstruments((meterProvider ?? metrics).getMeter(SCOPE));
  const shared: Shared = { tracer, instruments, content, seconds: () => systemEnvironment.monotonic() / 1_000 };
  return {
    sending: (session) => {
      const attributes = sessionAttributes(session);
      const span = tracer.startSpan(`send_message ${session.agentName}`, { kind: SpanKind.PRODUCER, attributes });
      const within = trace.setSpan(context.active(), span);
      return {
        run: (work) => context.with(within, work),
        carrier: () => carrierOf(span.spanContext()),
        end: ({ errorCode }) => endSpan(span, errorCode),
      };
    },
    run: (run) => runTelemetry(shared, run),
    committed: (commit) => measureCommit(shared, commit),
    refused: ({ event, code, durationMs }) => {
      instruments.commitDuration.record(durationMs / 1_000, { 'turnlock.event.type': event, 'error.type': code });
      if (code === 'TOKEN_STALE') instruments.staleWrites.add(1, { 'turnlock.event.type': event });
    },
    tookOver: ({ agentName, isLost }) =>
      instruments.takeovers.add(1, { 'gen_ai.agent.name': agentName, 'turnlock.lease.lost': isLost }),
  };
}

function measureCommit({ instruments }: Shared, commit: ObservedCommit): void {
  const { event, agentName, durationMs, lockWaitMs, retries, unknownOutcomes, asked, waiting } = commit;
  const ofEvent = { 'turnlock.event.type': event };
  const ofAgent = { 'gen_ai.agent.name': agentName };
  instruments.commitDuration.record(durationMs / 1_000, ofEvent);
  instruments.lockWait.record(lockWaitMs / 1_000, ofEvent);
  if (retries !== null) instruments.retries.add(retries.count, { ...ofAgent, 'turnlock.retry.of': retries.of });
  if (unknownOutcomes > 0) instruments.unknownOutcomes.add(unknownOutcomes, ofAgent);
  for (const [reason, count] of Object.entries(asked)) {
    if (count > 0) instruments.awaitingRounds.add(count, { ...ofAgent, 'turnlock.awaiting.reason': reason });
  }
  if (event === 'message.enqueued' || event === 'user.messaged') instruments.inboxDepth.record(waiting, ofAgent);
}

function checkOptions(options: OpenTelemetryOptions): void {
  const found: unknown = options;
  if (typeof found !== 'object' || found === null) throw refused('options', 'an object');
  const unknown = Object.keys(found).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) throw refused(unknown, OPTIONS.join(', '));
  const { content = false, tracerProvider, meterProvider } = options;
  if (typeof content !== 'boolean') throw refused('content', 'true or false');
  if (tracerProvider !== undefined && typeof tracerProvider?.getTracer !== 'function')
    throw refused('tracerProvider', 'a provider of tracers');
  if (meterProvider !== undefined && typeof meterProvider?.getMeter !== 'function')
    throw refused('meterProvider', 'a provider of meters');
}

function refused(option: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `option not accepted: ${option} of openTelemetry (wanted ${wanted})`,
  });
}
