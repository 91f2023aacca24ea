import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../support/runtime-script.ts';

/** Messages and sessions that come twice, at once, or where they must not. */
export const describeMessages: RuntimeSuite = (database) => {
  test('C16 the same message delivered twice is one turn, and both callers get the same answer', async () => {
    let asked = 0;
    const agent = scriptedAgent(() => `answer ${++asked}`);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const run = await session.send('hello', { messageId: 'm1', metadata: { from: 'web' } });
    const first = await run.result();
    const again = await session.send('hello', { messageId: 'm1', metadata: { from: 'web' } });
    expect(again).toMatchObject({ repeated: true, runId: run.runId });
    expect(await again.result()).toEqual(first);
    expect(await session.history()).toHaveLength(2);
    expect(asked).toBe(1);
  });

  test('C16 the same message at the same instant is one turn and one run', async () => {
    let asked = 0;
    const agent = scriptedAgent(() => `answer ${++asked}`);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const other = await (await openRuntime(database(), [agent])).session(session);
    const runs = await Promise.all(
      [session, other, session, other].map((handle) => handle.send('hello', { messageId: 'm1' })),
    );
    expect(new Set(runs.map(({ runId }) => runId)).size).toBe(1);
    expect(runs.filter(({ repeated }) => !repeated)).toHaveLength(1);
    const results = await Promise.all(runs.map((run) => run.result()));
    expect(results.map(({ reply }) => reply)).toEqual(Array(4).fill('answer 1'));
    expect(await session.history()).toHaveLength(2);
  });

  test('C16 a message id that was used for other content is a conflict, and nothing is written', async () => {
    const agent = scriptedAgent('done');
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await (await session.send('hello', { messageId: 'm1', metadata: { a: 1 } })).result();
    const before = await session.status();
    for (const [text, metadata] of [
      ['other', { a: 1 }],
      ['hello', { a: 2 }],
      ['hello', {}],
    ] as const) {
      await expect(session.send(text, { messageId: 'm1', metadata })).rejects.toMatchObject({
        code: 'MESSAGE_CONFLICT',
        category: 'conflict',
      });
    }
    expect(await session.status()).toEqual(before);
  });

  test('the same message id in two sessions is two messages', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    for (const text of ['one', 'two']) {
      const session = await openSession(runtime, agent);
      const run = await session.send(text, { messageId: 'm1' });
      expect(run.repeated).toBe(false);
      expect(await run.result()).toMatchObject({ reply: 'done' });
    }
  });

  test('C18 parallel creation with one external id is one session, from one process and from several', async () => {
    const agent = scriptedAgent('done');
    const runtimes = [await openRuntime(database(), [agent]), await openRuntime(database(), [agent])];
    const externalId = `order-${randomUUID()}`;
    const made = await Promise.all(
      Array.from({ length: 24 }, (_, index) => openSession(runtimes[index % 2]!, agent, { externalId })),
    );
    expect(new Set(made.map(({ sessionId }) => sessionId)).size).toBe(1);
    const found = await runtimes[1]!.session({ tenantId: 'tenant', externalId });
    expect(found.sessionId).toBe(made[0]!.sessionId);
    expect(await found.status()).toMatchObject({ state: 'IDLE', version: 0, externalId });
  });

  test('C18 parallel creation without an external id is as many sessions', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const made = await Promise.all(Array.from({ length: 25 }, () => openSession(runtime, agent)));
    const results = await Promise.all(made.map(async (session) => (await session.send('hello')).result()));
    expect(new Set(results.map(({ sessionId }) => sessionId)).size).toBe(25);
    expect(results.every(({ reply }) => reply === 'done')).toBe(true);
  });

  test('an external id that another agent or user has is a conflict; another tenant may use it', async () => {
    const [one, two] = [scriptedAgent('one'), scriptedAgent('two')];
    const runtime = await openRuntime(database(), [one, two]);
    const externalId = `order-${randomUUID()}`;
    const first = await openSession(runtime, one, { externalId });
    const conflict = { code: 'EXTERNAL_ID_CONFLICT', category: 'conflict' };
    await expect(openSession(runtime, two, { externalId })).rejects.toMatchObject(conflict);
    await expect(openSession(runtime, one, { externalId, userId: 'other' })).rejects.toMatchObject(conflict);
    const elsewhere = await openSession(runtime, two, { externalId, tenantId: 'tenant-2' });
    expect(elsewhere.sessionId).not.toBe(first.sessionId);
  });

  test('C63 an event that the state does not take is refused, names state and events, and changes nothing', async () => {
    const agent = scriptedAgent('done');
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const before = await session.status();
    await expect(session.retry()).rejects.toMatchObject({
      code: 'EVENT_ILLEGAL',
      message: expect.stringMatching(/no failed run.*IDLE.*FAILED/),
      details: { state: 'IDLE', event: 'session.retried', accepted: expect.arrayContaining(['user.messaged']) },
    });
    expect(await session.status()).toEqual(before);
    await session.complete();
    await expect(session.send('hello')).rejects.toMatchObject({ code: 'SESSION_COMPLETED', category: 'state' });
    await expect(session.complete()).rejects.toMatchObject({ code: 'EVENT_ILLEGAL', details: { state: 'COMPLETED' } });
    await session.cancel();
    expect(await session.status()).toMatchObject({ state: 'COMPLETED', version: 1 });
    expect(await session.history()).toEqual([]);
  });

  test('C63 completing a session at work is refused', async () => {
    const { opened, open } = gate();
    const slow = looseTool('slow', () => opened);
    const agent = scriptedAgent(eachRun({ toolCalls: [call('slow')] }, 'done'), [slow]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const run = await session.send('go');
    await expect(session.complete()).rejects.toMatchObject({ code: 'EVENT_ILLEGAL' });
    await expect(session.retry()).rejects.toMatchObject({ category: expect.stringMatching(/state|conflict/) });
    open();
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect((await session.transitions()).map(({ type }) => type)).not.toContain('session.completed');
  });
};
