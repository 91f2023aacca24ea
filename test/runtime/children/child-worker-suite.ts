import { expect, test } from 'vitest';
import type { RuntimeSuite } from '../../support/runtime-database.ts';
import { openRuntime, openSession } from '../../support/runtime-open.ts';
import { gate, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';
import { allRest } from '../worker/owed.ts';
import { agentOf, answersOf, asked, asking, childrenOf, rowOf } from './scene.ts';

/** Parents and children where workers drive them. */
export const describeChildWorkers: RuntimeSuite = (database) => {
  const ask = (toolName: string, ...messages: string[]) =>
    asking(...messages.map((message) => ({ toolName, input: { message } })));

  test('a worker with one slot brings two parents, each with children of children, to rest: who waits holds no slot', async () => {
    const third = agentOf('third', (request) => `3${asked(request)}`);
    const second = agentOf('second', ask('third', 'x'), [third.asTool({ name: 'third' })]);
    const first = agentOf('first', ask('second', 'a'), [second.asTool({ name: 'second' })]);
    const sender = await openRuntime(database(), [first], { drive: false });
    const sessions = await Promise.all([1, 2].map(() => openSession(sender, first)));
    for (const session of sessions) await session.send('go');
    const worker = await openRuntime(database(), [first], { limits: { sweepMs: 50 } });
    await worker.start({ concurrency: 1 });
    await allRest(database(), sessions, 'IDLE', { timeoutMs: 25_000 });
    for (const session of sessions) expect(await answersOf(session)).toEqual(['3x']);
  });

  test('a parent that waits holds no lease, is not claimed, and its worker takes other work', async () => {
    const hold = gate();
    const slow = looseTool('slow', () => hold.opened);
    const research = agentOf('research', asking({ toolName: 'slow', input: {} }), [slow]);
    const boss = agentOf('boss', ask('research', 'gold'), [research.asTool({ name: 'research' })]);
    const worker = await openRuntime(database(), [boss], { limits: { sweepMs: 50 } });
    await worker.start({ concurrency: 2 });
    const sender = await openRuntime(database(), [boss], { drive: false });
    const session = await openSession(sender, boss);
    await session.send('go');
    await waitFor(async () => (await rowOf(database(), session)).sleeps === true, { for: 'the parent to sleep' });
    expect(await rowOf(database(), session)).toMatchObject({ state: 'EXECUTING_TOOL', holder: null });
    const owed = await database().query('SELECT session_id FROM turnlock.sweep_sessions(100)');
    expect(owed.map(({ session_id }) => session_id)).not.toContain(session.sessionId);
    hold.open();
    await allRest(database(), [session]);
    expect(await rowOf(database(), session)).toMatchObject({ recoveries: 0, sleeps: null });
  });

  test('a child is decided where no worker is: a worker elsewhere goes on with child and parent', async () => {
    const research = agentOf('research', (request) => `found ${asked(request)}`);
    const boss = agentOf('boss', ask('research', 'gold'), [research.asTool({ name: 'research' })]);
    const sender = await openRuntime(database(), [boss], { drive: false });
    const session = await openSession(sender, boss);
    const run = await session.send('go');
    const worker = await openRuntime(database(), [boss]);
    await worker.start();
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'found gold' });
  });

  test('a tool at work beside a child: the parent stays with its worker, and both results stand in call order', async () => {
    const research = agentOf('research', (request) => `found ${asked(request)}`);
    const beside = looseTool('beside', async () => {
      await waitFor(async () => (await childrenOf(database(), session))[0]?.state === 'IDLE', {
        for: 'the child to end',
      });
      return 'beside';
    });
    const calls = [
      { toolName: 'beside', input: {} },
      { toolName: 'research', input: { message: 'gold' } },
    ];
    const boss = agentOf('boss', asking(...calls), [beside, research.asTool({ name: 'research' })]);
    const session = await openSession(await openRuntime(database(), [boss]), boss);
    expect((await (await session.send('go')).result()).reply).toBe('beside + found gold');
  });

  test('an interrupt that another program commits wakes a parent that waits, and its child is cancelled', async () => {
    const hold = gate();
    const slow = looseTool('slow', async (_params, { signal }) => {
      signal.addEventListener('abort', () => hold.open());
      await hold.opened;
    });
    const research = agentOf('research', asking({ toolName: 'slow', input: {} }), [slow]);
    const boss = agentOf(
      'boss',
      (request) => (asked(request) === 'go' ? ask('research', 'gold')(request) : `heard ${asked(request)}`),
      [research.asTool({ name: 'research' })],
    );
    const worker = await openRuntime(database(), [boss], { limits: { sweepMs: 50, leaseMs: 600, heartbeatMs: 100 } });
    await worker.start();
    const session = await openSession(await openRuntime(database(), [boss], { drive: false }), boss);
    await session.send('go');
    await waitFor(async () => (await rowOf(database(), session)).sleeps === true, { for: 'the parent to sleep' });
    const { tenantId, sessionId } = session;
    await database().query(`SELECT turnlock.enqueue($1, $2, 'stop', 'stop', 'interrupt')`, [tenantId, sessionId]);
    await waitFor(async () => (await session.history()).some(({ content }) => content === 'heard stop'), {
      for: 'the answer to the interrupt',
    });
    await waitFor(async () => (await childrenOf(database(), session))[0]!.state === 'IDLE', {
      for: 'the child to stop',
    });
    expect(await hold.opened).toBeUndefined();
  });
};
