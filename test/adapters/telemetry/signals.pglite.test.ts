import { expect, test } from 'vitest';
import { scripted } from '../../../adapters/models/scripted.ts';
import { defineAgent, LOG_EVENTS, type LogEntry, requireApproval, type Telemetry } from '../../../index.ts';
import { openMortal, recoverLater } from '../../support/runtime-crash.ts';
import { onPglite } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { oneTrace, outline, telemetryRecorder, withContextManager } from '../../support/telemetry-recorder.ts';
import { waitFor } from '../../support/wait-for.ts';

withContextManager();

onPglite((database) => {
  test('metrics have the names, units, buckets and attributes of the contract', async () => {
    const recorder = telemetryRecorder();
    const usage = { inputTokens: 300, outputTokens: 20, reasoningTokens: 8 };
    const agent = scriptedAgent(eachRun({ toolCalls: [call('look')], usage }, 'done'), [looseTool('look', () => 'ok')]);
    const runtime = await openRuntime(database(), [agent], { telemetry: recorder.telemetry });
    await (await (await openSession(runtime, agent)).send('go')).result();
    const chat = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'scripted',
    };
    const ofModality = { ...chat, 'gen_ai.token.modality': 'unknown' };
    const prefix = 'gen_ai.client.inference.usage';
    expect(await recorder.points(`${prefix}.input_tokens`)).toEqual([
      { attributes: ofModality, value: 300, unit: '{token}' },
    ]);
    expect(await recorder.points(`${prefix}.output_tokens`)).toMatchObject([{ value: 20 }]);
    expect(await recorder.points(`${prefix}.reasoning.output_tokens`)).toMatchObject([{ value: 8 }]);
    for (const name of ['gen_ai.client.inference.duration', 'gen_ai.client.operation.duration']) {
      const [point] = await recorder.points(name);
      expect(point).toMatchObject({ attributes: chat, unit: 's', value: { count: 2 } });
      expect((point!.value as { buckets: { boundaries: number[] } }).buckets.boundaries).toEqual([
        0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
      ]);
    }
    const used = await recorder.points('gen_ai.client.token.usage');
    expect(used.map(({ attributes, value }) => [attributes['gen_ai.token.type'], value])).toMatchObject([
      ['input', { count: 1, sum: 300 }],
      ['output', { count: 1, sum: 20 }],
    ]);
    const ofAgent = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': agent.name };
    expect(await recorder.points('gen_ai.invoke_agent.duration')).toMatchObject([{ attributes: ofAgent, unit: 's' }]);
    expect(await recorder.points('gen_ai.invoke_agent.inference_calls')).toMatchObject([{ value: { sum: 2 } }]);
    expect(await recorder.points('gen_ai.invoke_agent.tool_calls')).toMatchObject([{ value: { sum: 1 } }]);
    expect(await recorder.points('gen_ai.execute_tool.duration')).toMatchObject([
      { attributes: { 'gen_ai.tool.name': 'look', 'gen_ai.agent.name': agent.name }, value: { count: 1 } },
    ]);
    for (const name of ['turnlock.commit.duration', 'turnlock.commit.lock_wait']) {
      const commits = (await recorder.points(name)).map(({ attributes, unit }) => [
        attributes['turnlock.event.type'],
        unit,
      ]);
      expect(commits).toEqual([
        ['user.messaged', 's'],
        ['model.calledTools', 's'],
        ['tool.settled', 's'],
        ['model.replied', 's'],
      ]);
    }
    expect(await recorder.points('turnlock.inbox.depth')).toMatchObject([{ value: { count: 1, sum: 0 } }]);
  });

  test('C02 an unknown outcome and a person who is asked about it are counted, and so is a stale write', async () => {
    const charge = looseTool('charge', () => 'charged', { effect: 'nonRepeatable' });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge]);
    const where = ({ executionId }: { executionId?: string }) => executionId !== undefined;
    const dead = telemetryRecorder();
    const stall = [{ point: 'afterEffect', fault: 'stall', where } as const];
    const { runtime, plan } = await openMortal(database(), [agent], stall, {}, { telemetry: dead.telemetry });
    await (await openSession(runtime, agent)).send('go');
    await plan.struck;
    const alive = telemetryRecorder();
    await recoverLater(database(), [agent], {}, { telemetry: alive.telemetry });
    expect(await alive.points('turnlock.unknown_outcomes')).toMatchObject([{ value: 1 }]);
    expect(await alive.points('turnlock.awaiting.rounds')).toMatchObject([
      { value: 1, attributes: { 'turnlock.awaiting.reason': 'unknown' } },
    ]);
    plan.resume();
    await waitFor(async () => (await dead.points('turnlock.stale_writes')).length > 0, { for: 'the refused write' });
    expect(await dead.points('turnlock.stale_writes')).toMatchObject([
      { value: 1, attributes: { 'turnlock.event.type': 'tool.settled' } },
    ]);
  });

  test('with content spans hold instructions, messages, params and outputs in the form of the conventions', async () => {
    const recorder = telemetryRecorder({ content: true });
    const look = looseTool('look', () => ({ found: 42 }));
    const asks = { toolCalls: [call('look', { id: 7 }, { providerCallId: 'c1' })] };
    const agent = scriptedAgent(eachRun(asks, 'it is 42'), [look]);
    const runtime = await openRuntime(database(), [agent], { telemetry: recorder.telemetry });
    await (await (await openSession(runtime, agent)).send('what is it?')).result();
    const [, chat] = recorder.spans().filter(({ name }) => name.startsWith('chat'));
    const said = (name: string) => JSON.parse(String(chat?.attributes[name])) as unknown;
    expect(said('gen_ai.system_instructions')).toEqual([{ type: 'text', content: 'Do it.' }]);
    expect(said('gen_ai.input.messages')).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'what is it?' }] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'look', arguments: { id: 7 } }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: '{"found":42}' }] },
    ]);
    expect(said('gen_ai.output.messages')).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'it is 42' }], finish_reason: 'stop' },
    ]);
    expect(said('gen_ai.tool.definitions')).toMatchObject([{ type: 'function', name: 'look' }]);
    const tool = recorder.spans().find(({ name }) => name.startsWith('execute_tool'));
    expect(tool?.attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"id":7}',
      'gen_ai.tool.call.result': '{"found":42}',
    });
  });

  test('an agent that is asked as a tool is part of the trace of who asks', async () => {
    const recorder = telemetryRecorder();
    const helper = scriptedAgent('a fact');
    const boss = defineAgent({
      name: `${helper.name}-boss`,
      model: scripted(eachRun({ toolCalls: [call('help', { message: 'what is it?' })] }, 'done')),
      instructions: 'Ask.',
      tools: [helper.asTool({ name: 'help' })],
    });
    const runtime = await openRuntime(database(), [boss, helper], { telemetry: recorder.telemetry });
    const session = await openSession(runtime, boss);
    expect(await (await session.send('go')).result()).toMatchObject({ reply: 'done' });
    oneTrace(recorder.spans());
    expect(outline(recorder.spans())).toEqual([
      `send_message ${boss.name}`,
      `  invoke_agent ${boss.name}`,
      '    chat scripted',
      `    invoke_agent ${helper.name}`,
      '      chat scripted',
      `  invoke_agent ${boss.name}`,
      '    chat scripted',
    ]);
  });

  test('hooks that throw change nothing and are a warning each, once', async () => {
    const warnings: string[] = [];
    const fails = (): never => {
      throw new Error('broken');
    };
    const telemetry: Telemetry = { sending: fails, run: fails, committed: fails, refused: fails, tookOver: fails };
    const agent = scriptedAgent(eachRun({ toolCalls: [call('look')] }, 'done'), [looseTool('look', () => 'ok')]);
    const onWarning = ({ code }: { code: string }) => void warnings.push(code);
    const runtime = await openRuntime(database(), [agent], { telemetry, log: fails, onWarning });
    const session = await openSession(runtime, agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(warnings.sort()).toEqual(['LOG_FAILED', 'TELEMETRY_FAILED']);
  });

  test('hooks that break off after they let the work begin, or forget it, do not make it run twice or not at all', async () => {
    const works: string[] = [];
    const end = () => Promise.reject(new Error('later'));
    const run = <R>(work: () => R) => [work(), work()][1];
    const twice = { run, end, asked: () => undefined, carrier: () => null };
    const forgets = { run: () => undefined as never, end, carrier: () => ({ traceparent: 'of no form' }) };
    const telemetry = {
      sending: () => forgets,
      run: () => ({ ...twice, modelCall: () => twice, toolCall: () => forgets }),
      committed: end,
      refused: () => undefined,
      tookOver: () => undefined,
    } as unknown as Telemetry;
    const look = looseTool('look', () => works.push('look'));
    const agent = scriptedAgent(eachRun({ toolCalls: [call('look')] }, 'done'), [look]);
    const runtime = await openRuntime(database(), [agent], { telemetry });
    const session = await openSession(runtime, agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(works).toEqual(['look']);
    expect((await session.history())[0]?.metadata).toEqual({});
  });

  test('the log says what happened in entries of the closed list, without contents', async () => {
    const entries: LogEntry[] = [];
    const pay = looseTool('pay', () => 'paid 1234', { effect: 'nonRepeatable' });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('pay', { pin: '1234' })] }, 'pin 1234'), [pay]);
    const log = (entry: LogEntry) => void entries.push(entry);
    const onAwaiting = () => undefined;
    const runtime = await openRuntime(database(), [agent], { log, onAwaiting, onWarning: null });
    const session = await openSession(runtime, agent);
    const { runId } = await session.send('my pin is 1234');
    await (await session.resume())?.result();
    await runtime.start({ onSession: () => undefined });
    await runtime.close();
    const events = entries.map(({ event }) => event);
    expect(events.filter((event) => event !== 'commit.done')).toEqual([
      'runtime.started',
      'run.began',
      'run.rested',
      'worker.started',
      'worker.stopped',
      'runtime.closed',
    ]);
    expect(events.filter((event) => event === 'commit.done')).toHaveLength(4);
    expect(entries.every(({ event, level }) => LOG_EVENTS[event] === level)).toBe(true);
    const { tenantId, sessionId } = session;
    const ofRun = { tenantId, sessionId, agentName: agent.name, agentVersion: 1, runId };
    expect(entries.find(({ event }) => event === 'run.rested')).toEqual({
      time: expect.any(Number),
      level: 'info',
      event: 'run.rested',
      message: 'The run rests, or sleeps until its children wake it.',
      attributes: { ...ofRun, state: 'IDLE', durationMs: expect.any(Number) },
    });
    expect(JSON.stringify(entries)).not.toContain('1234');
  });

  test('a warning is an entry, and no warning of the process, where a log is given', async () => {
    const entries: LogEntry[] = [];
    const pay = looseTool('pay', () => 'paid', { policy: () => requireApproval() });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('pay')] }, 'done'), [pay]);
    const onAwaiting = () => Promise.reject(new Error('nobody there'));
    const log = (entry: LogEntry) => void entries.push(entry);
    const runtime = await openRuntime(database(), [agent], { log, onAwaiting, onWarning: null });
    await (await (await openSession(runtime, agent)).send('go')).result();
    const warned = () => entries.find(({ event }) => event === 'warning');
    await waitFor(() => warned() !== undefined, { for: 'the warning' });
    expect(warned()).toMatchObject({
      level: 'warn',
      message: 'People could not be told of what they are asked: nobody there',
      attributes: { code: 'ON_AWAITING_FAILED' },
    });
    expect(entries.find(({ event }) => event === 'person.asked')?.attributes).toMatchObject({
      approval: 1,
      unknown: 0,
    });
  });

  test('a run that ends in FAILED is an entry of its own, with the code, and the span says it too', async () => {
    const entries: LogEntry[] = [];
    const recorder = telemetryRecorder();
    const agent = scriptedAgent([() => Promise.reject(new Error('down, key sk-1'))]);
    const log = (entry: LogEntry) => void entries.push(entry);
    const runtime = await openRuntime(database(), [agent], {
      log,
      telemetry: recorder.telemetry,
      limits: { maxModelAttempts: 2 },
    });
    const session = await openSession(runtime, agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'FAILED' });
    const failed = entries.filter(({ level }) => level !== 'info' && level !== 'debug');
    expect(failed.map(({ event, attributes }) => [event, attributes.code ?? null])).toEqual([
      ['model.attemptFailed', null],
      ['run.failed', 'MODEL_FAILED'],
    ]);
    const drive = recorder.spans().find(({ name }) => name.startsWith('invoke_agent'));
    expect(drive?.attributes).toMatchObject({ 'turnlock.run.state': 'FAILED', 'error.type': 'MODEL_FAILED' });
    const told = [entries, recorder.spans().map(({ attributes, status, events }) => ({ attributes, status, events }))];
    expect(JSON.stringify(told)).not.toContain('sk-1');
  });
});
