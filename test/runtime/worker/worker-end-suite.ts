import { expect, test } from 'vitest';
import type { Recovery } from '../../../index.ts';
import { FaultPlan } from '../../../testing/faults/fault-plan.ts';
import type { RuntimeSuite } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../../support/runtime-script.ts';
import { allRest, enqueue, isLook, leaveOwed, rowsOf } from './owed.ts';
import { BUSY } from './worker-suite.ts';

/** How a worker is stopped, and what it leaves. */
export const describeWorkerEnd: RuntimeSuite = (database) => {
  test('start, stop, start: a stopped worker leaves everything alone, sending works on, and it begins anew', async () => {
    const agent = scriptedAgent('done');
    const looks = new FaultPlan();
    const runtime = await openRuntime(database(), [agent], { limits: BUSY, environment: looks });
    await runtime.stop();
    await runtime.start();
    await Promise.all([runtime.stop(), runtime.stop()]);
    const owed = await leaveOwed(database(), agent);
    const before = looks.passages.filter(isLook).length;
    const run = await (await openSession(runtime, agent)).send('hello');
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(looks.passages.filter(isLook)).toHaveLength(before);
    expect(await rowsOf(database(), owed)).toMatchObject([{ state: 'PLANNING' }]);
    const stopping = runtime.stop();
    await runtime.start();
    await stopping;
    await allRest(database(), owed);
  });

  test('C12 stop() during a model call: the call ends, the lease is given back, and another worker goes on', async () => {
    const { opened: begun, open: begin } = gate<AbortSignal>();
    const slow = scriptedAgent((_, { signal }) => {
      begin(signal);
      return new Promise<string>(() => undefined);
    });
    const owed = await leaveOwed(database(), slow);
    const draining = await openRuntime(database(), [slow], { limits: BUSY });
    const told: Recovery[] = [];
    await draining.start({ onSession: (recovery) => void told.push(recovery) });
    const signal = await begun;
    await draining.stop();
    expect(signal.aborted).toBe(true);
    expect(told).toMatchObject([{ skipped: 'RUNTIME_CLOSED' }]);
    expect(await rowsOf(database(), owed)).toMatchObject([{ state: 'PLANNING', holder: null, takeovers: 1 }]);
    const agent = scriptedAgent('done', [], slow.name);
    await (await openRuntime(database(), [agent], { limits: BUSY })).start();
    await allRest(database(), owed);
    expect(await rowsOf(database(), owed)).toMatchObject([{ takeovers: 2, recoveries: 0 }]);
  });

  test('C12 stop() during a tool call: its result is committed, nothing else is claimed, and another worker goes on', async () => {
    const { opened: begun, open: begin } = gate();
    const { opened, open } = gate();
    const acts: string[] = [];
    const charge = looseTool(
      'charge',
      async () => {
        begin();
        await opened;
        acts.push('charge');
        return 'charged';
      },
      { effect: 'nonRepeatable' },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge]);
    const [first] = await leaveOwed(database(), agent);
    const draining = await openRuntime(database(), [agent], { limits: BUSY });
    await draining.start();
    await begun;
    const stopping = draining.stop();
    const [second] = await leaveOwed(database(), agent);
    open();
    await stopping;
    expect(acts).toEqual(['charge']);
    expect(await rowsOf(database(), [first!, second!])).toMatchObject([
      { state: 'PLANNING', holder: null, takeovers: 1 },
      { state: 'PLANNING', holder: null, takeovers: 0 },
    ]);
    await (await openRuntime(database(), [agent], { limits: BUSY })).start();
    await allRest(database(), [first!, second!]);
    expect(acts).toEqual(['charge', 'charge']);
    expect((await rowsOf(database(), [first!, second!])).map(({ recoveries }) => recoveries)).toEqual([0, 0]);
  });

  test('stop() leaves a run alone that send drives', async () => {
    const { opened: begun, open: begin } = gate();
    const { opened, open } = gate();
    const agent = scriptedAgent(async () => {
      begin();
      await opened;
      return 'done';
    });
    const runtime = await openRuntime(database(), [agent], { limits: BUSY });
    await runtime.start();
    const run = await (await openSession(runtime, agent)).send('go');
    await begun;
    await runtime.stop();
    open();
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(await rowsOf(database(), [run])).toMatchObject([{ takeovers: 0 }]);
  });

  test.each(['afterStatement', 'commitSent'] as const)(
    'close() while the worker looks for work, at %s: nothing is taken over, and nothing stays open',
    async (point) => {
      const agent = scriptedAgent('done');
      const owed = await leaveOwed(database(), agent);
      let hasLooked = false;
      const plan = new FaultPlan([
        {
          point: 'any',
          fault: 'stall',
          where: (passage) => {
            hasLooked ||= isLook(passage);
            return hasLooked && passage.point === point;
          },
        },
      ]);
      const runtime = await openRuntime(database(), [agent], { limits: BUSY, environment: plan });
      await runtime.start();
      await plan.struck;
      const closing = runtime.close();
      plan.resume();
      await closing;
      expect(await rowsOf(database(), owed)).toMatchObject([{ state: 'PLANNING', takeovers: 0 }]);
    },
  );

  test('what onSession throws is a warning, and the worker goes on', async () => {
    const agent = scriptedAgent('done');
    const owed = await leaveOwed(database(), agent, 2);
    const codes: string[] = [];
    const runtime = await openRuntime(database(), [agent], { limits: BUSY, onWarning: ({ code }) => codes.push(code) });
    await runtime.start({
      concurrency: 1,
      onSession: () => {
        throw new Error('full');
      },
    });
    await allRest(database(), owed);
    await runtime.stop();
    expect(codes.filter((code) => code === 'WORKER_CALLBACK_FAILED')).toHaveLength(2);
  });

  test('messages that wait are answered one after the other, and a worker that stops drains the run that followed', async () => {
    const { opened: begun, open: begin } = gate();
    const { opened, open } = gate();
    const acts: string[] = [];
    const charge = looseTool(
      'charge',
      async () => {
        begin();
        await opened;
        acts.push('charge');
        return 'charged';
      },
      { effect: 'nonRepeatable' },
    );
    const agent = scriptedAgent(
      (request) => {
        const { text } = request.turns.findLast(({ role }) => role === 'user')!;
        if (text !== 'third') return `heard ${text}`;
        return eachRun({ toolCalls: [call('charge')] }, `heard ${text}`)(request);
      },
      [charge],
    );
    const [session] = await leaveOwed(database(), agent);
    for (const message of ['second', 'third']) await enqueue(database(), session!, message);
    const runtime = await openRuntime(database(), [agent], { limits: BUSY });
    const told: Recovery[] = [];
    await runtime.start({ onSession: (recovery) => void told.push(recovery) });
    await begun;
    const stopping = runtime.stop();
    open();
    await stopping;
    expect(acts).toEqual(['charge']);
    expect(await rowsOf(database(), [session!])).toMatchObject([{ state: 'PLANNING', holder: null, takeovers: 1 }]);
    expect(told).toMatchObject([{ sessionId: session!.sessionId, skipped: 'RUNTIME_CLOSED' }]);
    await runtime.start();
    await allRest(database(), [session!]);
    const history = await (await runtime.session(session!)).history();
    const said = history.filter(({ role }) => role !== 'tool').map(({ content }) => content);
    expect(said).toEqual(['go 0', 'heard go 0', 'second', 'heard second', 'third', '', 'heard third']);
  });
};
