import type {
  ObservedAsking,
  ObservedSending,
  ObservedWork,
  RunTelemetry,
  Telemetry,
  ToolCallEnd,
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
    asked: (request) => void guarded(() => inner?.asked(copied(request, 'turns', 'tools', 'outputSchema')), onFailed),
    end: (end) => void guarded(() => inner?.end(copied(end, 'response', 'usage')), onFailed),
  });
  const toolWork = (inner: ObservedWork<ToolCallEnd> | null): ObservedWork<ToolCallEnd> => ({
    ...workOf(inner, onFailed),
    end: (end) => void guarded(() => inner?.end(copied(end, 'output')), onFailed),
  });
  const run = (inner: RunTelemetry | null): RunTelemetry => ({
    ...workOf(inner, onFailed),
    carrier: () => carrierOf(inner, onFailed),
    modelCall: (call) => asking(guarded(() => inner?.modelCall(call) ?? null, onFailed)),
    toolCall: (call) => toolWork(guarded(() => inner?.toolCall(copied(call, 'params')) ?? null, onFailed)),
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

/**
 * `told`, of which `names` are copied once they are looked at: a hook that changes what it is told changes nothing of the run, and one that
 * looks at no contents costs nothing. What cannot be copied is `null`.
 */
function copied<Told extends object>(told: Told, ...names: (keyof Told)[]): Told {
  const copy = { ...told };
  for (const name of names) {
    const value = told[name];
    if (typeof value !== 'object' || value === null) continue;
    let made: { value: unknown } | null = null;
    const get = () => {
      made ??= { value: copyOf(value) };
      return made.value;
    };
    Object.defineProperty(copy, name, { enumerable: true, configurable: true, get });
  }
  return copy;
}

function copyOf(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch {
    return null;
  }
}

/** A traceparent that names a span: no version `ff`, no id of zeros alone. Of others each process would make a trace of its own. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

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
