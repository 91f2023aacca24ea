import {
  type Context,
  createTraceState,
  isValidTraceId,
  type SpanContext,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { TraceCarrier } from './telemetry.contract.ts';

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** `context` under the span that `carrier` names. */
export function contextOf(context: Context, { traceparent, tracestate }: TraceCarrier): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return context;
  const state = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(context, { traceId, spanId, traceFlags, isRemote: true, ...state });
}

/** What names a span to another process; `null` for one that no SDK made. */
export function carrierOf({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceCarrier | null {
  if (!trace.isSpanContextValid({ traceId, spanId, traceFlags })) return null;
  const traceparent = `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`;
  const tracestate = traceState?.serialize();
  return tracestate ? { traceparent, tracestate } : { traceparent };
}

/**
 * What a run goes on from of whose message nothing is known: its trace id is the run's id without dashes, so every process comes to the same
 * one without asking. `null` where the run has no such id.
 */
export function carrierOfRun(runId: string): TraceCarrier | null {
  const traceId = runId.replaceAll('-', '').toLowerCase();
  if (!isValidTraceId(traceId)) return null;
  return { traceparent: `00-${traceId}-${traceId.slice(16)}-01` };
}
