import { appendFileSync } from 'node:fs';
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { openTelemetry } from '../../../adapters/telemetry/telemetry.ts';
import { createRuntime } from '../../../index.ts';
import { parentChannel } from '../../support/child-channel.ts';
import { scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A process that writes its spans to a file as they end. It sends a message and hangs in the tool, or takes the run over and ends it. */

interface TracedTask {
  url: string;
  agent: string;
  file: string;
  /** The session whose run is taken over; absent: a new one is made, and its tool hangs. */
  sessionId?: string;
}

const task = JSON.parse(process.argv[2] ?? '') as TracedTask;
const parent = parentChannel();

/** A span as the test reads it. */
function written(span: ReadableSpan): string {
  const { traceId, spanId } = span.spanContext();
  return `${JSON.stringify({ name: span.name, traceId, spanId, parentId: span.parentSpanContext?.spanId ?? null, pid: process.pid })}\n`;
}

const exporter = {
  export: (spans: ReadableSpan[], done: (result: { code: number }) => void) => {
    for (const span of spans) appendFileSync(task.file, written(span));
    done({ code: 0 });
  },
  shutdown: async () => undefined,
};
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = tracerProvider.getTracer('host');
const charge = looseTool('charge', async () => {
  await tracer.startActiveSpan('POST /charges', async (span) => span.end());
  if (task.sessionId !== undefined) return 'charged';
  await parent.say('inTool');
  return new Promise(() => undefined);
});
const agent = scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge], task.agent);
const runtime = await createRuntime({
  database: postgres(task.url),
  agents: [agent],
  migrate: 'check',
  limits: { leaseMs: 1_000, heartbeatMs: 200, graceMs: 0, toolTimeoutMs: 1_000 },
  onWarning: () => undefined,
  telemetry: openTelemetry({ tracerProvider }),
});
const key = { tenantId: 'tenant', userId: 'user' };
if (task.sessionId === undefined) {
  const session = await runtime.createSession({ agent: agent.name, ...key });
  await parent.say('created', { sessionId: session.sessionId });
  await session.send('go');
} else {
  const isOver = async () => (await runtime.recover()).some(({ state }) => state !== undefined);
  await waitFor(isOver, { for: 'the run to be taken over' });
  await runtime.close();
  await parent.say('done');
}
