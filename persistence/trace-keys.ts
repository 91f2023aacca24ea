import type { Json } from '../machines/event-content.ts';

/** Of a message's metadata: where its trace goes on (W3C Trace Context). It says nothing of the message. */
const TRACE_KEYS: readonly string[] = ['traceparent', 'tracestate'];

/** `metadata` without what says where the trace of its message goes on: the same message sent again has another trace. */
export function withoutTrace(metadata: { [name: string]: Json }): { [name: string]: Json } {
  if (!TRACE_KEYS.some((key) => Object.hasOwn(metadata, key))) return metadata;
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !TRACE_KEYS.includes(name)));
}
