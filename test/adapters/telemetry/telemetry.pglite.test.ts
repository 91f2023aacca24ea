import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { requireApproval, ToolError } from '../../../index.ts';
import { openMortal, recoverLater } from '../../support/runtime-crash.ts';
import { onPglite } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { oneTrace, outline, telemetryRecorder, withContextManager } from '../../support/telemetry-recorder.ts';

withContextManager();

onPglite((database) => {
  const usage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 60, reasoningTokens: 5 };

  test('a run is one trace: the message, the drive, each attempt of a model call and of a tool, with what the conventions ask', async () => {
    const recorder = telemetryRecorder();
    const inner = recorder.tracerProvider.getTracer('host');
    const lookup = looseTool('lookup', () => inner.startActiveSpan('query', (span) => span.end()));
    const answer = { toolCalls: [call('lookup', { secret: 'pin 1234' }, { providerCallId: 'call-7' })] };
    const agent = scriptedAgent(
      eachRun({ ...answer, usage, finishReason: 'tool-calls', providerRequestId: 'req-1' }, { text: 'done', usage }),
      [lookup],
    );
    const runtime = await openRuntime(database(), [agent], { telemetry: recorder.telemetry });
    const session = await openSession(runtime, agent);
    const run = await session.send('my pin is 1234');
    await run.result();
    const spans = recorder.spans();
    oneTrace(spans);
    expect(outline(spans)).toEqual([
      `send_message ${agent.name}`,
      `  invoke_agent ${agent.name}`,
      '    chat scripted',
      '    execute_tool lookup',
      '      query',
      '    chat scripted',
    ]);
    const named = (name: string) => spans.find((span) => span.name.startsWith(name))!;
    const ofSession = {
      'gen_ai.conversation.id': session.sessionId,
      'gen_ai.agent.name': agent.name,
      'gen_ai.agent.version': '1',
      'turnlock.tenant.id': 'tenant',
      'turnlock.run.id': run.runId,
    };
    expect(named('invoke_agent').kind).toBe(SpanKind.INTERNAL);
    expect(named('invoke_agent').attributes).toEqual({
      ...ofSession,
      'gen_ai.operation.name': 'invoke_agent',
      'turnlock.run.begun_by': 'user.messaged',
      'turnlock.fencing_token': 1,
      'turnlock.run.state': 'IDLE',
    });
    expect(named('chat').kind).toBe(SpanKind.CLIENT);
    expect(named('chat').attributes).toEqual({
      ...ofSession,
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'scripted',
      'gen_ai.output.type': 'text',
      'gen_ai.response.id': 'req-1',
      'gen_ai.response.finish_reasons': ['tool-calls'],
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.cache_read.input_tokens': 60,
      'gen_ai.usage.reasoning.output_tokens': 5,
      'turnlock.attempt': 1,
    });
    expect(named('execute_tool').attributes).toEqual({
      ...ofSession,
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'lookup',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'call-7',
      'gen_ai.tool.description': 'Does lookup.',
      'turnlock.execution.id': expect.any(String),
      'turnlock.tool.version': 1,
      'turnlock.tool.effect': 'idempotent',
      'turnlock.tool.outcome': 'succeeded',
      'turnlock.attempt': 1,
    });
    const exported = spans.map(({ name, attributes, events }) => ({ name, attributes, events }));
    expect(JSON.stringify(exported)).not.toContain('1234');
  });

  test('the caller’s span is the parent, and the same message sent again is the same message', async () => {
    const recorder = telemetryRecorder();
    const agent = scriptedAgent(eachRun('hello'));
    const runtime = await openRuntime(database(), [agent], { telemetry: recorder.telemetry });
    const session = await openSession(runtime, agent);
    const tracer = recorder.tracerProvider.getTracer('host');
    await tracer.startActiveSpan('POST /chat', async (span) => {
      await (await session.send('hi', { messageId: 'm1' })).result();
      span.end();
    });
    expect(outline(recorder.spans())).toEqual([
      'POST /chat',
      `  send_message ${agent.name}`,
      `    invoke_agent ${agent.name}`,
      '      chat scripted',
    ]);
    const again = await session.send('hi', { messageId: 'm1' });
    expect(again.repeated).toBe(true);
    const [turn] = await session.history();
    expect(turn?.metadata).toEqual({ traceparent: expect.stringContaining(oneTrace(recorder.spans().slice(0, 4))) });
  });

  test('attempts that fail and are made again are spans of their own, with the code of the error', async () => {
    const recorder = telemetryRecorder();
    let tries = 0;
    const flaky = looseTool(
      'flaky',
      () => {
        tries += 1;
        if (tries === 1) throw new ToolError('not now', { retryable: true });
        return 'ok';
      },
      { retry: { attempts: 3, backoff: { initialMs: 0 } } },
    );
    let asked = 0;
    const agent = scriptedAgent(
      (request) => {
        asked += 1;
        if (asked === 1) throw new Error('overloaded');
        return eachRun({ toolCalls: [call('flaky')] }, 'done')(request);
      },
      [flaky],
    );
    const runtime = await openRuntime(database(), [agent], { telemetry: recorder.telemetry });
    const session = await openSession(runtime, agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    const tell = ({ attributes, status }: ReturnType<typeof recorder.spans>[number]) =>
      attributes['turnlock.attempt'] === undefined
        ? ''
        : ` ${attributes['turnlock.attempt']} ${attributes['error.type'] ?? 'ok'} ${SpanStatusCode[status.code]}`;
    expect(outline(recorder.spans(), tell)).toEqual([
      `send_message ${agent.name}`,
      `  invoke_agent ${agent.name}`,
      '    chat scripted 1 MODEL_FAILED ERROR',
      '    chat scripted 2 ok UNSET',
      '    execute_tool flaky 1 TOOL_FAILED ERROR',
      '    execute_tool flaky 2 ok UNSET',
      '    chat scripted 1 ok UNSET',
    ]);
    const retries = (await recorder.points('turnlock.retries')).map(({ attributes, value }) => [
      attributes['turnlock.retry.of'],
      value,
    ]);
    expect(retries).toEqual([
      ['model', 1],
      ['tool', 1],
    ]);
  });

  test('a run that rests at a person goes on in the same trace, and is linked to whoever approved', async () => {
    const recorder = telemetryRecorder();
    const pay = looseTool('pay', () => 'paid', { effect: 'nonRepeatable', policy: () => requireApproval() });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('pay')] }, 'done'), [pay]);
    const first = await openRuntime(database(), [agent], { telemetry: recorder.telemetry });
    const session = await openSession(first, agent);
    const { awaiting } = await (await session.send('pay')).result();
    const second = await openRuntime(database(), [agent], { telemetry: recorder.telemetry });
    const tracer = recorder.tracerProvider.getTracer('host');
    await tracer.startActiveSpan('POST /approve', async (span) => {
      const opened = await second.session(session);
      const { executionId, digest } = awaiting[0]!;
      await (await opened.approve(executionId, { by: 'ann', digest })).result();
      span.end();
    });
    const approving = recorder.spans().find(({ name }) => name === 'POST /approve')!;
    const ofRun = recorder.spans().filter((span) => span !== approving);
    oneTrace(ofRun);
    expect(outline(ofRun)).toEqual([
      `send_message ${agent.name}`,
      `  invoke_agent ${agent.name}`,
      '    chat scripted',
      `  invoke_agent ${agent.name}`,
      '    execute_tool pay',
      '    chat scripted',
    ]);
    const drives = ofRun.filter(({ name }) => name.startsWith('invoke_agent'));
    expect(drives.map(({ attributes }) => attributes['turnlock.run.state'])).toEqual(['AWAITING_INPUT', 'IDLE']);
    expect(drives[1]?.links.map(({ context }) => context.spanId)).toEqual([approving.spanContext().spanId]);
    const rounds = await recorder.points('turnlock.awaiting.rounds');
    expect(rounds).toMatchObject([{ value: 1, attributes: { 'turnlock.awaiting.reason': 'approval' } }]);
  });

  test('C02 a process that takes a run over from a dead one goes on with its trace, and the takeover is counted', async () => {
    const dead = telemetryRecorder();
    const charge = looseTool('charge', () => 'charged');
    const agent = scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge]);
    const where = ({ executionId }: { executionId?: string }) => executionId !== undefined;
    const faults = [{ point: 'afterEffect', fault: 'crash', where } as const];
    const { runtime, plan } = await openMortal(database(), [agent], faults, {}, { telemetry: dead.telemetry });
    await (await openSession(runtime, agent)).send('go');
    await plan.struck;
    const alive = telemetryRecorder();
    await recoverLater(database(), [agent], {}, { telemetry: alive.telemetry });
    expect(oneTrace(alive.spans())).toBe(oneTrace(dead.spans()));
    expect(outline(alive.spans())).toEqual([`invoke_agent ${agent.name}`, '  execute_tool charge', '  chat scripted']);
    const sent = dead.spans().find(({ name }) => name.startsWith('send_message'));
    const goesOn = alive.spans().find(({ name }) => name.startsWith('invoke_agent'));
    expect(goesOn?.parentSpanContext?.spanId).toBe(sent?.spanContext().spanId);
    const attributes = { 'gen_ai.agent.name': agent.name, 'turnlock.lease.lost': true };
    expect(await alive.points('turnlock.takeovers')).toEqual([{ attributes, value: 1, unit: '{takeover}' }]);
  });

  test('a run of whose message nothing is known has its own id as the trace’s', async () => {
    const recorder = telemetryRecorder();
    const agent = scriptedAgent(eachRun('hello'));
    const silent = await openRuntime(database(), [agent], { drive: false });
    const session = await openSession(silent, agent);
    const { runId } = await session.send('hi');
    const runtime = await openRuntime(database(), [agent], { telemetry: recorder.telemetry });
    await runtime.recover();
    expect(oneTrace(recorder.spans())).toBe(runId.replaceAll('-', ''));
    expect(trace.getActiveSpan()).toBeUndefined();
  });
});
