import { context, createTraceState, propagation, trace } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { requireApproval } from '../../../index.ts';
import { onPglite } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../../support/runtime-script.ts';
import { outline, telemetryRecorder, withContextManager } from '../../support/telemetry-recorder.ts';
import { waitFor } from '../../support/wait-for.ts';

withContextManager();

const [TRACE, SPAN, ZEROS] = ['a'.repeat(32), 'b'.repeat(16), '0'.repeat(32)];

onPglite((database) => {
  test.each([
    ['of a trace of zeros', `00-${ZEROS}-${SPAN}-01`],
    ['of a span of zeros', `00-${TRACE}-${ZEROS.slice(16)}-01`],
    ['of the version that is none', `ff-${TRACE}-${SPAN}-01`],
    ['in capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['that is long', `00-${TRACE}-${SPAN}-01${'-x'.repeat(1_000)}`],
    ['that is a number', 7],
  ])('a traceparent %s names no trace: every process comes to the one of the run’s id', async (_what, traceparent) => {
    const recorder = telemetryRecorder();
    const pay = looseTool('pay', () => 'paid', { policy: () => requireApproval() });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('pay')] }, 'done'), [pay]);
    const runtime = await openRuntime(database(), [agent], { telemetry: recorder.telemetry });
    const session = await openSession(runtime, agent);
    const run = await session.send('go', { metadata: { traceparent, tracestate: 'x'.repeat(1_000) } });
    const { awaiting } = await run.result();
    await (await session.approve(awaiting[0]!.executionId, { by: 'ann' })).result();
    const drives = recorder.spans().filter(({ name }) => name.startsWith('invoke_agent'));
    const id = run.runId.replaceAll('-', '');
    expect(drives.map((span) => span.spanContext().traceId)).toEqual([id, id]);
  });

  test('a traceparent of the caller’s is stored as it is, without the state of another trace, and is not sampled where it says so', async () => {
    const recorder = telemetryRecorder();
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent], { telemetry: recorder.telemetry });
    const session = await openSession(runtime, agent);
    const traceState = createTraceState('ours=1');
    const within = trace.setSpanContext(context.active(), {
      traceId: '1'.repeat(32),
      spanId: SPAN,
      traceFlags: 1,
      traceState,
    });
    const traceparent = `00-${TRACE}-${SPAN}-00`;
    await (await context.with(within, () => session.send('go', { metadata: { traceparent } }))).result();
    expect((await session.history())[0]?.metadata).toEqual({ traceparent });
    expect(recorder.spans().map(({ name }) => name)).toEqual([`send_message ${agent.name}`]);
  });

  test('a message that waits for another’s run is in its own trace alone, with nothing of that one’s context', async () => {
    const recorder = telemetryRecorder();
    const tracer = recorder.tracerProvider.getTracer('host');
    const hold = gate();
    const carried: unknown[] = [];
    const look = looseTool('look', async () => {
      await hold.opened;
      carried.push(propagation.getActiveBaggage()?.getEntry('who')?.value);
      return tracer.startActiveSpan('inner', (span) => span.end());
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('look')] }, 'done'), [look]);
    const runtime = await openRuntime(database(), [agent], { telemetry: recorder.telemetry });
    const session = await openSession(runtime, agent);
    const request = (name: string) => {
      const baggage = propagation.createBaggage({ who: { value: name } });
      return context.with(propagation.setBaggage(context.active(), baggage), () =>
        tracer.startActiveSpan(name, async (span) => {
          const run = await session.send(name);
          span.end();
          return run;
        }),
      );
    };
    const first = await request('one');
    await waitFor(async () => (await session.status()).state === 'EXECUTING_TOOL', { for: 'the tool' });
    const second = await request('two');
    hold.open();
    await Promise.all([first.result(), second.result()]);
    const ofRun = (name: string) => [
      name,
      `  send_message ${agent.name}`,
      `    invoke_agent ${agent.name}`,
      '      chat scripted',
      '      execute_tool look',
      '        inner',
      '      chat scripted',
    ];
    const links = ({ links: { length } }: { links: unknown[] }) => (length > 0 ? ` and ${length} links` : '');
    expect(outline(recorder.spans(), links)).toEqual([...ofRun('one'), ...ofRun('two')]);
    expect(carried).toEqual(['one', undefined]);
  });

  test('with content, what JSON cannot hold is null, and the span ends', async () => {
    const recorder = telemetryRecorder({ content: true });
    const input: { [name: string]: unknown } = { id: 7n };
    input.itself = input;
    const agent = scriptedAgent(eachRun({ toolCalls: [call('look', input)] }, 'done'), [looseTool('look', () => 'ok')]);
    const warnings: string[] = [];
    const onWarning = ({ code }: { code: string }) => void warnings.push(code);
    const runtime = await openRuntime(database(), [agent], { telemetry: recorder.telemetry, onWarning });
    await (await (await openSession(runtime, agent)).send('go')).result();
    const chats = recorder.spans().filter(({ name }) => name.startsWith('chat'));
    expect(chats.map(({ attributes }) => attributes['gen_ai.output.messages'])).toEqual(['null', expect.any(String)]);
    expect(warnings).toEqual([]);
  });

  test('when a runtime closes, every span of it has ended', async () => {
    const recorder = telemetryRecorder();
    const never = () => new Promise<string>(() => undefined);
    const waits = scriptedAgent(eachRun({ toolCalls: [call('wait')] }), [
      looseTool('wait', never, { timeoutMs: 200, effect: 'nonRepeatable' }),
    ]);
    const hangs = scriptedAgent([never]);
    const runtime = await openRuntime(database(), [waits, hangs], { telemetry: recorder.telemetry });
    const cancelled = await openSession(runtime, hangs);
    for (const session of [await openSession(runtime, waits), await openSession(runtime, hangs), cancelled]) {
      await session.send('go');
    }
    await cancelled.cancel({ by: 'ann' });
    await runtime.close();
    const count = (name: string) => recorder.spans().filter((span) => span.name.startsWith(name)).length;
    const began = (await recorder.points('gen_ai.invoke_agent.duration')).length;
    expect(began).toBeGreaterThan(0);
    expect([count('invoke_agent'), count('chat'), count('execute_tool')]).toEqual([3, 3, 1]);
  });
});
