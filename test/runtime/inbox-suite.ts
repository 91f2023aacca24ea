import { expect, test } from 'vitest';
import { z } from 'zod';
import { scripted } from '../../adapters/models/scripted.ts';
import { defineAgent, type WhenBusy } from '../../index.ts';
import { openMortal, recoverLater } from '../support/runtime-crash.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, eventsOf, gate, looseTool } from '../support/runtime-script.ts';
import { waitFor } from '../support/wait-for.ts';
import { echoAgent, enqueue, idle, rowsOf, typesOf, userTexts } from './inbox-scene.ts';

/** Messages to a session that is busy. */
export const describeInbox: RuntimeSuite = (database) => {
  const rows = (sessionId: string) => rowsOf(database(), sessionId);

  test('a message to a busy session waits, and its run begins when the one before it is done', async () => {
    const { agent, open, begun } = echoAgent();
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const first = await session.send('wait');
    await begun;
    const others = [await session.send('one'), await session.send('two')];
    expect(new Set([first, ...others].map(({ runId }) => runId)).size).toBe(3);
    expect(await rows(session.sessionId)).toMatchObject([{ content: 'one' }, { content: 'two' }]);
    const events = others.map(eventsOf);
    open();
    expect(await first.result()).toMatchObject({ state: 'IDLE', queued: false, reply: 'waited' });
    const results = await Promise.all(others.map((run) => run.result()));
    expect(results).toMatchObject([
      { runId: others[0]!.runId, state: 'IDLE', queued: false, reply: 'heard one', error: null },
      { runId: others[1]!.runId, state: 'IDLE', queued: false, reply: 'heard two', error: null },
    ]);
    for (const [index, shown] of (await Promise.all(events)).entries()) {
      expect(shown.map((event) => (event.type === 'delta' ? event.text : event.event.type))).toEqual([
        'user.messaged',
        `heard ${['one', 'two'][index]}`,
        'model.replied',
      ]);
    }
    expect(await userTexts(session)).toEqual(['wait', 'one', 'two']);
    expect(await typesOf(session)).toEqual([
      'user.messaged',
      'model.calledTools',
      'message.enqueued',
      'message.enqueued',
      'tool.settled',
      'model.replied',
      'user.messaged',
      'model.replied',
      'user.messaged',
      'model.replied',
    ]);
    expect(await rows(session.sessionId)).toEqual([]);
  });

  test('C15 two processes that send in the same instant: every message is in the history once, in one order', async () => {
    const { agent } = echoAgent();
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const other = await (await openRuntime(database(), [agent])).session(session);
    const texts = Array.from({ length: 8 }, (_, n) => `message ${n}`);
    const runs = await Promise.all(texts.map((text, n) => (n % 2 === 0 ? session : other).send(text)));
    const results = await Promise.all(runs.map((run) => run.result()));
    expect(results.map(({ reply }) => reply)).toEqual(texts.map((text) => `heard ${text}`));
    const history = await session.history();
    expect(history.map(({ role }) => role)).toEqual(texts.flatMap(() => ['user', 'assistant']));
    expect((await userTexts(session)).sort()).toEqual([...texts].sort());
    expect(history.map(({ turnIndex }) => turnIndex)).toEqual(history.map((_, index) => index));
  });

  test('a run that is taken over by whoever sends its message again shows its events there', async () => {
    const { agent } = echoAgent();
    const ofTool = ({ executionId }: { executionId?: string }) => executionId !== undefined;
    const crash = { point: 'insideEffect', fault: 'crash', where: ofTool } as const;
    const { runtime, plan } = await openMortal(database(), [agent], [crash]);
    const { sessionId, tenantId } = await openSession(runtime, agent);
    await (await runtime.session({ sessionId, tenantId })).send('wait', { messageId: 'm1' });
    await plan.struck;
    await database().moveClock(LONG_MS);
    const next = echoAgent({ name: agent.name });
    const session = await (await openRuntime(database(), [next.agent])).session({ sessionId, tenantId });
    const run = await session.send('wait', { messageId: 'm1' });
    expect(run.repeated).toBe(true);
    next.open();
    const shown = (await eventsOf(run)).flatMap((event) => (event.type === 'transition' ? [event.event.type] : []));
    expect(shown).toEqual(['worker.tookOver', 'execution.started', 'tool.settled', 'model.replied']);
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'waited' });
  });

  test('C16 a message that waits, sent again, is one turn and one run; with other content it is a conflict', async () => {
    const { agent, open, begun } = echoAgent();
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await session.send('wait');
    await begun;
    const run = await session.send('one', { messageId: 'm1' });
    const again = await session.send('one', { messageId: 'm1' });
    expect(again).toMatchObject({ repeated: true, runId: run.runId });
    await expect(session.send('two', { messageId: 'm1' })).rejects.toMatchObject({ code: 'MESSAGE_CONFLICT' });
    open();
    const result = await run.result();
    expect(result).toMatchObject({ state: 'IDLE', reply: 'heard one' });
    expect(await again.result()).toEqual(result);
    expect(await (await session.send('one', { messageId: 'm1' })).result()).toEqual(result);
    await expect(session.send('two', { messageId: 'm1' })).rejects.toMatchObject({ code: 'MESSAGE_CONFLICT' });
    expect(await userTexts(session)).toEqual(['wait', 'one']);
  });

  test('C70 interrupt cancels the run, and the message goes before those that wait', async () => {
    const { agent, begun, signals } = echoAgent({ effect: 'nonRepeatable' });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const first = await session.send('wait');
    await begun;
    const waiting = await session.send('one');
    const urgent = await session.send('urgent', { whenBusy: 'interrupt', messageId: 'u1' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(await urgent.result()).toMatchObject({ state: 'IDLE', reply: 'heard urgent', error: null });
    expect(await waiting.result()).toMatchObject({ reply: 'heard one' });
    expect(await first.result()).toMatchObject({ reply: null, error: { code: 'RUN_CANCELLED' } });
    expect(await userTexts(session)).toEqual(['wait', 'urgent', 'one']);
    const tool = (await session.history()).find(({ role }) => role === 'tool');
    expect(tool).toMatchObject({ content: expect.stringContaining('unknown'), parts: [{ outcome: 'unknown' }] });
    const again = await session.send('urgent', { whenBusy: 'interrupt', messageId: 'u1' });
    expect(again).toMatchObject({ repeated: true, runId: urgent.runId });
  });

  test('interrupt from another process: the run that is driven elsewhere is over at once', async () => {
    const { agent, begun, open } = echoAgent();
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const first = await session.send('wait');
    await begun;
    const sibling = echoAgent({ name: agent.name });
    const other = await (await openRuntime(database(), [sibling.agent])).session(session);
    const urgent = await other.send('urgent', { whenBusy: 'interrupt' });
    expect(await urgent.result()).toMatchObject({ state: 'IDLE', reply: 'heard urgent' });
    open();
    expect(await first.result()).toMatchObject({ error: { code: 'RUN_CANCELLED' } });
    expect(await userTexts(session)).toEqual(['wait', 'urgent']);
  });

  test('interrupt of a session at rest is an ordinary message', async () => {
    const { agent } = echoAgent();
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const run = await session.send('hello', { whenBusy: 'interrupt' });
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'heard hello' });
    expect(await typesOf(session)).toEqual(['user.messaged', 'model.replied']);
  });

  test('a message behind a person who is asked waits, and says so; the decision lets it through', async () => {
    const charge = looseTool('charge', () => 'charged', { effect: 'nonRepeatable' });
    const agent = scriptedAgent(
      (request) => {
        const { text } = request.turns.findLast(({ role }) => role === 'user')!;
        return text === 'charge' ? eachRun({ toolCalls: [call('charge')] }, 'charged')(request) : `heard ${text}`;
      },
      [charge],
    );
    const ofTool = ({ executionId }: { executionId?: string }) => executionId !== undefined;
    const crash = { point: 'afterEffect', fault: 'crash', where: ofTool } as const;
    const { runtime, plan } = await openMortal(database(), [agent], [crash]);
    const { sessionId, tenantId } = await openSession(runtime, agent);
    await (await runtime.session({ sessionId, tenantId })).send('charge');
    await plan.struck;
    const { runtime: next } = await recoverLater(database(), [agent]);
    const session = await next.session({ sessionId, tenantId });
    const run = await session.send('and now?');
    const result = await run.result();
    expect(result).toMatchObject({
      state: 'AWAITING_INPUT',
      queued: true,
      reply: null,
      awaiting: [{ reason: 'unknown' }],
    });
    const { executionId } = result.awaiting[0]!;
    const settled = await session.settle(executionId, { outcome: 'succeeded', output: 'charged', by: 'ann' });
    expect(await settled.result()).toMatchObject({ state: 'IDLE', reply: 'charged' });
    await waitFor(async () => (await rows(sessionId)).length === 0, { for: 'the message to be taken' });
    await idle(session);
    expect(await userTexts(session)).toEqual(['charge', 'and now?']);
  });

  test('FAILED keeps what waits until it is retried', async () => {
    let isDown = true;
    const { opened, open } = gate();
    const agent = scriptedAgent(async (request) => {
      const { text } = request.turns.findLast(({ role }) => role === 'user')!;
      await opened;
      if (isDown) throw new Error('down');
      return `heard ${text}`;
    });
    const session = await openSession(
      await openRuntime(database(), [agent], { limits: { maxModelAttempts: 1 } }),
      agent,
    );
    const first = await session.send('one');
    const second = await session.send('two');
    open();
    expect(await first.result()).toMatchObject({ state: 'FAILED' });
    expect(await second.result()).toMatchObject({ state: 'FAILED', queued: true, reply: null, error: null });
    await expect(session.send('three')).rejects.toMatchObject({ code: 'EVENT_ILLEGAL' });
    isDown = false;
    expect(await (await session.retry()).result()).toMatchObject({ reply: 'heard one' });
    await waitFor(async () => (await rows(session.sessionId)).length === 0, { for: 'the message to be taken' });
    await idle(session);
    expect(await userTexts(session)).toEqual(['one', 'two']);
  });

  test('complete refuses what waits, each message for itself; what comes after it is refused too', async () => {
    const agent = scriptedAgent(() => {
      throw new Error('down');
    });
    const runtime = await openRuntime(database(), [agent], { limits: { maxModelAttempts: 1 } });
    const session = await openSession(runtime, agent);
    await (await session.send('one')).result();
    await enqueue(database(), session, 'm2', 'two');
    await enqueue(database(), session, null, 'three');
    await session.complete();
    expect(await rows(session.sessionId)).toMatchObject([
      { content: 'two', rejected_code: 'SESSION_COMPLETED' },
      { content: 'three', rejected_code: 'SESSION_COMPLETED' },
    ]);
    expect((await typesOf(session)).slice(-3)).toEqual(['message.rejected', 'message.rejected', 'session.completed']);
    await expect(enqueue(database(), session, null, 'four')).rejects.toThrow('COMPLETED');
    await expect(session.send('five')).rejects.toMatchObject({ code: 'SESSION_COMPLETED' });
    const again = await session.send('two', { messageId: 'm2' });
    expect(await again.result()).toMatchObject({
      state: 'COMPLETED',
      queued: false,
      error: { code: 'SESSION_COMPLETED' },
    });
  });

  test('cancel ends the run under way; the message that waits longest begins the next', async () => {
    const { agent, begun } = echoAgent();
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const first = await session.send('wait');
    await begun;
    const second = await session.send('one');
    await session.cancel();
    expect(await second.result()).toMatchObject({ state: 'IDLE', reply: 'heard one' });
    expect(await first.result()).toMatchObject({ error: { code: 'RUN_CANCELLED' } });
  });

  test('a process that dies between two runs: another one takes the message that waits', async () => {
    const { agent } = echoAgent();
    const ofReply = ({ statement }: { statement?: string }) =>
      statement?.includes('delete from "turnlock"."agent_inbox"') === true;
    const slowModel = gate();
    const waiting = scriptedAgent(
      async (request) => {
        await slowModel.opened;
        const { text } = request.turns.findLast(({ role }) => role === 'user')!;
        return `heard ${text}`;
      },
      [],
      agent.name,
    );
    const { runtime, plan } = await openMortal(
      database(),
      [waiting],
      [{ point: 'afterStatement', fault: 'crash', where: ofReply }],
    );
    const session = await openSession(runtime, waiting);
    await session.send('one');
    const { runId } = await session.send('two');
    slowModel.open();
    await plan.struck;
    const { runtime: next, recoveries } = await recoverLater(database(), [agent]);
    expect(recoveries).toMatchObject([{ sessionId: session.sessionId, state: 'IDLE' }]);
    const fresh = await next.session(session);
    expect(await userTexts(fresh)).toEqual(['one', 'two']);
    expect((await fresh.transitions()).at(-1)).toMatchObject({ type: 'model.replied', runId });
  });

  test('a reply is final only where no message waits', async () => {
    const { opened, open } = gate();
    const agent = defineAgent({
      name: `final-${process.pid}-${database().kind}`,
      model: scripted(async () => {
        await opened;
        return '{"ok":true}';
      }),
      instructions: 'Do it.',
      output: z.object({ ok: z.boolean() }),
    });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const first = await session.send('one');
    const second = await session.send('two');
    open();
    expect(await first.result()).toMatchObject({ state: 'IDLE', output: { ok: true } });
    expect(await second.result()).toMatchObject({ state: 'COMPLETED', output: { ok: true } });
    expect(await userTexts(session)).toEqual(['one', 'two']);
  });

  test('so many messages wait as the limit says, and no more', async () => {
    const { agent, begun, open } = echoAgent();
    const session = await openSession(
      await openRuntime(database(), [agent], { limits: { maxWaitingMessages: 2 } }),
      agent,
    );
    await session.send('wait');
    await begun;
    const runs = [await session.send('one'), await session.send('two')];
    await expect(session.send('three')).rejects.toMatchObject({ code: 'LIMIT_WAITING_MESSAGES', category: 'limit' });
    open();
    await Promise.all(runs.map((run) => run.result()));
    expect(await userTexts(session)).toEqual(['wait', 'one', 'two']);
  });

  test.each(['later', null, 7])('whenBusy %j is refused', async (whenBusy) => {
    const { agent } = echoAgent();
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await expect(session.send('x', { whenBusy: whenBusy as 'reject' })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
    });
    expect((await session.status()).version).toBe(0);
  });

  test.each<[WhenBusy, string]>([
    ['enqueue', 'message.enqueued'],
    ['interrupt', 'run.cancelled'],
  ])('C58 the answer to COMMIT is lost when a message is sent with %s: it is there once', async (whenBusy, type) => {
    const { agent, begun, open } = echoAgent();
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await session.send('wait');
    await begun;
    let isArmed = false;
    const lost = { point: 'commitSent', fault: 'disconnect', where: () => isArmed } as const;
    const { runtime: other, plan } = await openMortal(database(), [agent], [lost]);
    const handle = await other.session(session);
    isArmed = true;
    const run = await handle.send('one', { whenBusy, messageId: 'm1' });
    expect(await plan.struck).toMatchObject({ point: 'commitSent' });
    open();
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'heard one' });
    expect((await typesOf(session)).slice(0, 3)).toEqual(['user.messaged', 'model.calledTools', type]);
    expect(await userTexts(session)).toEqual(['wait', 'one']);
  });
};
