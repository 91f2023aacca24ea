import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../adapters/models/model.contract.ts';
import type { LogEntry, Telemetry } from '../../../index.ts';
import { onPglite } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';

/** A telemetry whose spans are `span`, but for what `over` says. */
function telemetryOf(span: object, over: object = {}): Telemetry {
  const nothing = () => undefined;
  const whole = { run: <R>(work: () => R) => work(), end: nothing, asked: nothing, carrier: () => null, ...span };
  return {
    sending: () => whole,
    run: () => ({ ...whole, modelCall: () => whole, toolCall: () => whole }),
    committed: nothing,
    refused: nothing,
    tookOver: nothing,
    ...over,
  } as unknown as Telemetry;
}

/** Writes over every text in `value` and empties every list, wherever it may. */
function wreck(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const fields = value as { [name: string]: unknown };
  for (const name of Object.keys(fields)) {
    wreck(fields[name]);
    Reflect.set(fields, name, typeof fields[name] === 'object' ? fields[name] : 'wrecked');
  }
  if (Array.isArray(value)) value.length = 0;
}

onPglite((database) => {
  test('what a hook that is an async function makes of the rejection of the work reaches nobody but the caller', async () => {
    const unhandled: unknown[] = [];
    const hear = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', hear);
    const warnings: string[] = [];
    const onWarning = ({ code }: { code: string }) => void warnings.push(code);
    const agent = scriptedAgent([() => Promise.reject(new Error('down')), 'done']);
    const watches = telemetryOf({ run: async (work: () => unknown) => work() });
    const breaks = telemetryOf({
      run: async (work: () => unknown) => {
        await work();
        throw new Error('later');
      },
    });
    for (const [telemetry, expected] of [
      [watches, []],
      [breaks, ['TELEMETRY_FAILED']],
    ] as const) {
      const runtime = await openRuntime(database(), [agent], { telemetry, onWarning });
      const session = await openSession(runtime, agent);
      await (await session.send('go')).result();
      await session.complete();
      await expect(session.send('more')).rejects.toMatchObject({ code: 'SESSION_COMPLETED' });
      await new Promise((resolve) => setImmediate(resolve));
      expect(warnings).toEqual(expected);
    }
    process.off('unhandledRejection', hear);
    expect(unhandled).toEqual([]);
  });

  test('hooks that write over all that they are told change nothing of the run, of what is stored and of the log', async () => {
    const inRun = { asked: wreck, end: wreck };
    const run = (facts: object) => {
      wreck(facts);
      const span = telemetryOf(inRun).run({} as never);
      const told = (given: object) => {
        wreck(given);
        return span.modelCall({} as never);
      };
      return { ...span, modelCall: told, toolCall: told };
    };
    const telemetry = telemetryOf(inRun, { run, committed: wreck, refused: wreck, tookOver: wreck });
    const asked: (string | undefined)[][] = [];
    const ran: unknown[] = [];
    const look = looseTool('look', (params) => {
      ran.push(structuredClone(params));
      return { found: { it: 'yes' } };
    });
    const script = eachRun({ toolCalls: [call('look', { deep: { id: 'seven' } })] }, 'done');
    const agent = scriptedAgent(
      (request: ModelRequest) => {
        asked.push([...request.turns.map(({ text }) => text), request.tools[0]?.name]);
        return script(request);
      },
      [look],
    );
    const entries: LogEntry[] = [];
    const log = (entry: LogEntry) => {
      entries.push(structuredClone(entry));
      wreck(entry);
    };
    const runtime = await openRuntime(database(), [agent], { telemetry, log });
    const session = await openSession(runtime, agent);
    const result = await (await session.send('go on', { metadata: { a: { b: 'c' } } })).result();
    expect(result).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(ran).toEqual([{ deep: { id: 'seven' } }]);
    const output = '{"found":{"it":"yes"}}';
    expect(asked).toEqual([
      ['go on', 'look'],
      ['go on', '', output, 'look'],
    ]);
    expect((await session.history())[0]?.metadata).toEqual({ a: { b: 'c' } });
    expect(JSON.stringify([await session.history(), await session.transitions()])).not.toContain('wrecked');
    expect(entries.map(({ event, attributes }) => attributes.event ?? event)).toEqual([
      'runtime.started',
      'user.messaged',
      'run.began',
      'model.calledTools',
      'tool.settled',
      'model.replied',
      'run.rested',
    ]);
  });

  test('hooks that call the runtime again, from within a commit, hold nothing up', async () => {
    const states: unknown[] = [];
    let session: Awaited<ReturnType<typeof openSession>> | null = null;
    const again = async () => {
      const { state } = (await session?.status()) ?? {};
      states.push(state);
    };
    const telemetry = telemetryOf({ end: again }, { committed: again });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('look')] }, 'done'), [looseTool('look', () => 'ok')]);
    const runtime = await openRuntime(database(), [agent], { telemetry, log: () => again() });
    session = await openSession(runtime, agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    await runtime.close();
    expect(states).toContain('IDLE');
  });

  test('a telemetry that throws is a warning in the log, where there is one', async () => {
    const entries: LogEntry[] = [];
    const fails = (): never => {
      throw new Error('broken');
    };
    const agent = scriptedAgent('done');
    const log = (entry: LogEntry) => void entries.push(entry);
    const telemetry = telemetryOf({}, { committed: fails });
    const runtime = await openRuntime(database(), [agent], { telemetry, log, onWarning: null });
    await (await (await openSession(runtime, agent)).send('go')).result();
    const warned = entries.filter(({ event }) => event === 'warning');
    expect(warned.map(({ attributes }) => attributes.code)).toEqual(['TELEMETRY_FAILED']);
  });
});
