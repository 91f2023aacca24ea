import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { contentText, requestContent, responseContent } from './content.ts';
import type { Instruments } from './instruments.ts';
import { providerName } from './provider-name.ts';
import type {
  ModelCallEnd,
  ObservedAsking,
  ObservedModelCall,
  ObservedRun,
  ObservedSession,
  ObservedToolCall,
  ObservedWork,
  RunEnd,
  RunTelemetry,
  ToolCallEnd,
} from './telemetry.contract.ts';
import { carrierOf, carrierOfRun, contextOf } from './trace-parent.ts';

/** What the spans of one host share. */
export interface Shared {
  tracer: Tracer;
  instruments: Instruments;
  /** Whether spans hold contents. */
  content: boolean;
  /** Seconds of a clock that never goes back. */
  seconds(): number;
}

/** What every span says of its session. */
export function sessionAttributes({ tenantId, sessionId, agentName, agentVersion }: ObservedSession): Attributes {
  return {
    'gen_ai.conversation.id': sessionId,
    'gen_ai.agent.name': agentName,
    'gen_ai.agent.version': String(agentVersion),
    'turnlock.tenant.id': tenantId,
  };
}

/** Marks `span` as failed with `code`, where there is one, and ends it. */
export function endSpan(span: Span, code: string | null, attributes: Attributes = {}): void {
  span.setAttributes(attributes);
  if (code !== null) {
    span.setAttribute('error.type', code);
    span.setStatus({ code: SpanStatusCode.ERROR, message: code });
  }
  span.end();
}

/** The span of a run in this process, and those of its attempts below it. */
export function runTelemetry(shared: Shared, run: ObservedRun): RunTelemetry {
  const { tracer, instruments, seconds } = shared;
  const { agentName, runId, begunBy, token } = run;
  const carrier = run.carrier ?? carrierOfRun(runId);
  const parent = carrier === null ? ROOT_CONTEXT : contextOf(ROOT_CONTEXT, carrier);
  const span = tracer.startSpan(
    `invoke_agent ${agentName}`,
    {
      kind: SpanKind.INTERNAL,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        ...sessionAttributes(run),
        'turnlock.run.id': runId,
        'turnlock.run.begun_by': begunBy,
        'turnlock.fencing_token': token,
      },
      links: callerLinks(run, parent),
    },
    parent,
  );
  // What is active where nobody asked for this run is of another one: its baggage must not go along.
  const within = trace.setSpan(run.isByCaller ? context.active() : ROOT_CONTEXT, span);
  const began = seconds();
  const calls = { model: 0, tool: 0 };
  const { tenantId, sessionId, agentVersion } = run;
  const session = { ...sessionAttributes({ tenantId, sessionId, agentName, agentVersion }), 'turnlock.run.id': runId };
  return {
    run: (work) => context.with(within, work),
    carrier: () => carrierOf(span.spanContext()),
    modelCall: (call) => {
      calls.model += 1;
      return modelCall(shared, within, session, call);
    },
    toolCall: (call) => {
      calls.tool += 1;
      return toolCall(shared, within, { session, agentName }, call);
    },
    end: ({ state, errorCode }: RunEnd) => {
      endSpan(span, errorCode, { 'turnlock.run.state': state ?? 'leftToOthers' });
      const measured = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': agentName };
      instruments.agentDuration.record(seconds() - began, { ...measured, ...errorType(errorCode) }, within);
      instruments.agentInferenceCalls.record(calls.model, measured, within);
      instruments.agentToolCalls.record(calls.tool, measured, within);
    },
  };
}

/** Whoever called, where their span is of another trace: an approval is made in a request of its own. */
function callerLinks({ isByCaller }: ObservedRun, parent: Context) {
  const caller = isByCaller ? trace.getSpanContext(context.active()) : undefined;
  if (caller === undefined || !trace.isSpanContextValid(caller)) return [];
  return caller.traceId === trace.getSpanContext(parent)?.traceId ? [] : [{ context: caller }];
}

function errorType(code: string | null): Attributes {
  return code === null ? {} : { 'error.type': code };
}

function modelCall(shared: Shared, run: Context, session: Attributes, call: ObservedModelCall): ObservedAsking {
  const { tracer, content, seconds } = shared;
  const { modelId, provider, attempt, outputType } = call;
  const measured = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerName(provider),
    'gen_ai.request.model': modelId,
  };
  const attributes = { ...measured, ...session, 'gen_ai.output.type': outputType, 'turnlock.attempt': attempt };
  const span = tracer.startSpan(`chat ${modelId}`, { kind: SpanKind.CLIENT, attributes }, run);
  const within = trace.setSpan(run, span);
  const began = seconds();
  return {
    run: (work) => context.with(within, work),
    asked: (request) => {
      if (content) span.setAttributes(requestContent(request));
    },
    end: (end) => {
      endSpan(span, end.errorCode, {
        ...answered(end),
        ...(content && end.response ? responseContent(end.response) : {}),
      });
      measureModelCall(shared.instruments, within, measured, end, seconds() - began);
    },
  };
}

function answered({ response, usage }: ModelCallEnd): Attributes {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const said = {
    'gen_ai.response.id': response?.providerRequestId,
    'gen_ai.response.finish_reasons': response?.finishReason === undefined ? undefined : [response.finishReason],
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
    'gen_ai.usage.cache_read.input_tokens': cacheReadTokens,
    'gen_ai.usage.cache_write.input_tokens': cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': reasoningTokens,
  };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value != null)) as Attributes;
}

function measureModelCall(
  instruments: Instruments,
  within: Context,
  measured: Attributes,
  { usage, errorCode }: ModelCallEnd,
  tookSeconds: number,
): void {
  const ended = { ...measured, ...errorType(errorCode) };
  instruments.inferenceDuration.record(tookSeconds, ended, within);
  instruments.operationDuration.record(tookSeconds, ended, within);
  const tokens = { ...measured, 'gen_ai.token.modality': 'unknown' };
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  instruments.inputTokens.add(inputTokens ?? 0, tokens, within);
  instruments.outputTokens.add(outputTokens ?? 0, tokens, within);
  if (cacheReadTokens) instruments.cacheReadTokens.add(cacheReadTokens, tokens, within);
  if (cacheWriteTokens) instruments.cacheWriteTokens.add(cacheWriteTokens, tokens, within);
  if (reasoningTokens) instruments.reasoningTokens.add(reasoningTokens, tokens, within);
  for (const [type, count] of [['input', inputTokens] as const, ['output', outputTokens] as const]) {
    if (count !== undefined) instruments.tokenUsage.record(count, { ...measured, 'gen_ai.token.type': type }, within);
  }
}

function toolCall(
  { tracer, instruments, content, seconds }: Shared,
  run: Context,
  { session, agentName }: { session: Attributes; agentName: string },
  call: ObservedToolCall,
): ObservedWork<ToolCallEnd> {
  const { executionId, toolName, toolVersion, description, effect, attempt, providerCallId, params } = call;
  const attributes: Attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': toolName,
    'gen_ai.tool.type': 'function',
    ...(providerCallId ? { 'gen_ai.tool.call.id': providerCallId } : {}),
    ...(description ? { 'gen_ai.tool.description': description } : {}),
    ...session,
    'turnlock.execution.id': executionId,
    'turnlock.tool.version': toolVersion,
    'turnlock.tool.effect': effect,
    'turnlock.attempt': attempt,
    ...(content ? { 'gen_ai.tool.call.arguments': contentText(params) } : {}),
  };
  const span = tracer.startSpan(`execute_tool ${toolName}`, { kind: SpanKind.INTERNAL, attributes }, run);
  const within = trace.setSpan(run, span);
  const began = seconds();
  return {
    run: (work) => context.with(within, work),
    end: ({ outcome, errorCode, output }) => {
      const result = content && output !== undefined ? { 'gen_ai.tool.call.result': contentText(output) } : {};
      endSpan(span, errorCode, { 'turnlock.tool.outcome': outcome, ...result });
      const measured = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': toolName,
        'gen_ai.agent.name': agentName,
        ...errorType(errorCode),
      };
      instruments.toolDuration.record(seconds() - began, measured, within);
    },
  };
}
