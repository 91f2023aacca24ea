import type {
  ObservedAsking,
  ObservedSending,
  ObservedWork,
  RunTelemetry,
  Telemetry,
  TraceCarrier,
} from '../adapters/telemetry/telemetry.contract.ts';
import { guarded, type OnFailed, runWithin } from './guarded.ts';

/** `telemetry` as the runtime calls it: whatever it throws goes to `onFailed`, and the work is done all the same. */
export function unfailingTelemetry(telemetry: Telemetry, onFailed: OnFailed): Telemetry {
  const sending = (inner: ObservedSending | null): ObservedSending => ({
    ...workOf(inner, onFailed),
    carrier: () => carrierOf(inner, onFailed),
  });
  const asking = (inner: ObservedAsking | null): ObservedAsking => ({
    ...workOf(inner, onFailed),
    asked: (request) => void guarded(() => inner?.asked(request), onFailed),
  });
  const run = (inner: RunTelemetry | null): RunTelemetry => ({
    ...workOf(inner, onFailed),
    carrier: () => carrierOf(inner, onFailed),
    modelCall: (call) => asking(guarded(() => inner?.modelCall(call) ?? null, onFailed)),
    toolCall: (call) =>
      workOf(
        guarded(() => inner?.toolCall(call) ?? null, onFailed),
        onFailed,
      ),
  });
  return {
    sending: (session) => sending(guarded(() => telemetry.sending(session), onFailed)),
    run: (facts) => run(guarded(() => telemetry.run(facts), onFailed)),
    committed: (commit) => void guarded(() => telemetry.committed(commit), onFailed),
    refused: (refused) => void guarded(() => telemetry.refused(refused), onFailed),
    tookOver: (taken) => void guarded(() => telemetry.tookOver(taken), onFailed),
  };
}

function workOf<End>(inner: ObservedWork<End> | null, onFailed: OnFailed): ObservedWork<End> {
  return {
    run: (work) => (inner === null ? work() : runWithin((once) => inner.run(once), work, onFailed)),
    end: (end) => void guarded(() => inner?.end(end), onFailed),
  };
}

/** Only what can be stored: a text of a traceparent's form. */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Bytes of a tracestate, beyond which it is left out: W3C lets it be cut. */
const MAX_TRACESTATE = 512;

function carrierOf(inner: { carrier(): TraceCarrier | null } | null, onFailed: OnFailed): TraceCarrier | null {
  const given = guarded(() => inner?.carrier() ?? null, onFailed);
  return readCarrier(given);
}

/** What of `given` names a trace; `null` where nothing does. */
export function readCarrier(given: unknown): TraceCarrier | null {
  if (typeof given !== 'object' || given === null) return null;
  const { traceparent, tracestate } = given as { [name: string]: unknown };
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return null;
  const isState = typeof tracestate === 'string' && /^[\x20-\x7e]{1,512}$/.test(tracestate);
  return isState ? { traceparent, tracestate: (tracestate as string).slice(0, MAX_TRACESTATE) } : { traceparent };
}
