import { expect, test } from 'vitest';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';
import { typesOf, userTexts } from './inbox-scene.ts';

/** A runtime that leaves its runs to workers elsewhere. */
export const describeNoDrive: RuntimeSuite = (database) => {
  /** One runtime that sends and one that works, with an agent of one name; `sees` counts what each asked its model. */
  async function pair() {
    const asked = { sender: 0, worker: 0 };
    const of = (who: keyof typeof asked, name?: string) =>
      scriptedAgent(
        (request) => {
          asked[who] += 1;
          const { text } = request.turns.findLast(({ role }) => role === 'user')!;
          return text === 'act' ? eachRun({ toolCalls: [call('act')] }, 'acted')(request) : `heard ${text}`;
        },
        [looseTool('act', () => 'x', { effect: 'nonRepeatable' })],
        name,
      );
    const agent = of('sender');
    const sender = await openRuntime(database(), [agent], { drive: false });
    const worker = await openRuntime(database(), [of('worker', agent.name)]);
    return { asked, sender, worker, session: await openSession(sender, agent) };
  }

  test('what it sends is durable and owed; a worker elsewhere does it, and its result is seen here', async () => {
    const { asked, sender, worker, session } = await pair();
    const run = await session.send('act', { messageId: 'm1' });
    expect(await session.status()).toMatchObject({ state: 'PLANNING', version: 1 });
    const second = await session.send('more');
    expect(await worker.recover()).toMatchObject([{ sessionId: session.sessionId, state: 'IDLE' }]);
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'acted' });
    await worker.recover();
    expect(await second.result()).toMatchObject({ state: 'IDLE', reply: 'heard more' });
    expect(asked.sender).toBe(0);
    expect(asked.worker).toBeGreaterThan(0);
    expect(await userTexts(session)).toEqual(['act', 'more']);
    const [row] = await database().query('SELECT recoveries FROM turnlock.agent_sessions WHERE session_id = $1', [
      session.sessionId,
    ]);
    expect(row.recoveries).toBe(0);
    expect((await typesOf(session)).slice(0, 3)).toEqual(['user.messaged', 'message.enqueued', 'worker.tookOver']);
    await sender.close();
  });

  test('cancel, complete and interrupt need no drive; what waits after them is left to workers', async () => {
    const { asked, worker, session } = await pair();
    await session.send('one');
    const urgent = await session.send('urgent', { whenBusy: 'interrupt' });
    expect(await session.status()).toMatchObject({ state: 'IDLE' });
    await worker.recover();
    expect(await urgent.result()).toMatchObject({ reply: 'heard urgent' });
    await session.send('two');
    await session.cancel();
    await expect(session.send('x', { whenBusy: 'reject' })).resolves.toMatchObject({ repeated: false });
    await session.cancel();
    await session.complete();
    expect(await session.status()).toMatchObject({ state: 'COMPLETED' });
    expect(asked.sender).toBe(0);
  });

  test('recover drives, since it was asked for', async () => {
    const { asked, sender, session } = await pair();
    const runs = [await session.send('one'), await session.send('two')];
    await sender.recover();
    const results = await Promise.all(runs.map((run) => run.result()));
    expect(results).toMatchObject([{ reply: 'heard one' }, { reply: 'heard two' }]);
    expect(asked.sender).toBe(2);
  });

  test('a worker of its own drives what it claims', async () => {
    const { asked, sender, session } = await pair();
    await sender.start();
    const run = await session.send('one');
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'heard one' });
    expect(asked.sender).toBe(1);
    await sender.stop();
  });
};
