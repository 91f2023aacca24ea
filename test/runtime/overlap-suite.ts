import { expect, test } from 'vitest';
import { FaultPlan } from '../../testing/faults/fault-plan.ts';
import { openMortal } from '../support/runtime-crash.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, eventsOf, gate, looseTool } from '../support/runtime-script.ts';
import { waitFor } from '../support/wait-for.ts';

/** What happens in one process at the same time: closing and sending, two runs, recovery and work. */
export const describeOverlaps: RuntimeSuite = (database) => {
  for (const point of ['beforeBegin', 'afterLock', 'beforeCommit', 'commitSent', 'afterCommit'] as const) {
    test(`close() at ${point} of a message: it is all there or not at all, and another runtime goes on at once`, async () => {
      const agent = scriptedAgent('done');
      const plan = new FaultPlan([{ point, fault: 'stall', where: () => isArmed }]);
      let isArmed = false;
      const runtime = await openRuntime(database(), [agent], { environment: plan });
      const session = await openSession(runtime, agent);
      isArmed = true;
      const sending = session.send('go', { messageId: 'm1' });
      sending.catch(() => undefined);
      await plan.struck;
      const closing = runtime.close();
      plan.resume();
      await closing;
      const run = await sending;
      await expect(run.result()).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' });
      const [row] = await database().query(
        'SELECT current_state, lease_holder FROM turnlock.agent_sessions WHERE session_id = $1',
        [session.sessionId],
      );
      expect(row).toEqual({ current_state: 'PLANNING', lease_holder: null });
      const second = await openRuntime(database(), [agent]);
      expect(await second.recover()).toMatchObject([{ sessionId: session.sessionId, state: 'IDLE' }]);
    });
  }

  test('close() while one follows a run that another runtime drives: the follower is told so', async () => {
    const { opened, open } = gate();
    const agent = scriptedAgent(async () => {
      await opened;
      return 'done';
    });
    const driving = await openRuntime(database(), [agent]);
    const session = await openSession(driving, agent);
    const run = await session.send('go', { messageId: 'm1' });
    const following = await openRuntime(database(), [agent]);
    const follower = await (await following.session(session)).send('go', { messageId: 'm1' });
    const told = expect(follower.result()).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' });
    await following.close();
    await told;
    open();
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
  });

  test('a repeat of an earlier message shows nothing of the run that is under way, and does not end it', async () => {
    const { opened, open } = gate();
    const { opened: begun, open: begin } = gate();
    const agent = scriptedAgent(async ({ turns }) => {
      if (turns.length === 1) return 'first';
      begin();
      await opened;
      return 'second';
    });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const first = await session.send('one', { messageId: 'm1' });
    await first.result();
    const second = await session.send('two', { messageId: 'm2' });
    const shown = eventsOf(second);
    await begun;
    const again = await session.send('one', { messageId: 'm1' });
    expect(again.runId).toBe(first.runId);
    expect(await again.result()).toMatchObject({ runId: first.runId, reply: 'first' });
    for (const event of await eventsOf(again)) expect(event.runId).toBe(first.runId);
    open();
    expect(await second.result()).toMatchObject({ reply: 'second' });
    expect((await shown).map((event) => (event.type === 'transition' ? event.event.type : event.text))).toEqual([
      'user.messaged',
      'second',
      'model.replied',
    ]);
  });

  test('C05 the process that is at work leaves its session alone, also when its lease has run out meanwhile', async () => {
    const { opened, open } = gate();
    const { opened: begun, open: begin } = gate();
    let count = 0;
    const slow = looseTool('slow', async () => {
      count += 1;
      begin();
      await opened;
      return 'x';
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('slow')] }, 'done'), [slow]);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const run = await session.send('go');
    await begun;
    await database().moveClock(LONG_MS);
    expect((await runtime.recover()).filter(({ state }) => state !== undefined)).toEqual([]);
    await expect(session.send('more', { whenBusy: 'reject' })).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    open();
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(count).toBe(1);
    expect((await session.transitions()).map(({ type }) => type)).not.toContain('worker.tookOver');
  });

  test('C49 a person who settles in the moment in which the question is shown gets the run that follows', async () => {
    const crash = {
      point: 'afterEffect',
      fault: 'crash',
      where: ({ executionId }: { executionId?: string }) => executionId !== undefined,
    } as const;
    const charge = looseTool('charge', () => 'charged', { effect: 'nonRepeatable' });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge]);
    const { runtime, plan } = await openMortal(database(), [agent], [crash]);
    const { sessionId } = await openSession(runtime, agent);
    const reference = { tenantId: 'tenant', sessionId };
    void (await runtime.session(reference)).send('go', { messageId: 'm1' });
    await plan.struck;
    await database().moveClock(LONG_MS);
    const second = await openRuntime(database(), [agent]);
    const session = await second.session(reference);
    const recovering = second.recover();
    const { awaiting } = await waitFor(
      async () => {
        const status = await session.status();
        return status.state === 'AWAITING_INPUT' && status;
      },
      { for: 'the question', everyMs: 1 },
    );
    const run = await session.settle(awaiting[0]!.executionId, { outcome: 'succeeded', output: 'seen', by: 'ann' });
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    await recovering;
    const types = (await session.transitions()).map(({ type }) => type);
    expect(types.filter((type) => type === 'model.replied')).toHaveLength(1);
  });

  test('a worker that was cancelled from elsewhere and ends late does not hide the run that began meanwhile', async () => {
    const tool = { begun: gate(), end: gate() };
    const asked = gate<AbortSignal>();
    const slow = looseTool('slow', async () => {
      tool.begun.open();
      await tool.end.opened;
    });
    const script = eachRun({ toolCalls: [call('slow')] }, 'done');
    const agent = scriptedAgent(
      (request, { signal }) => {
        if (request.turns.filter(({ role }) => role === 'user').length === 1) return script(request);
        asked.open(signal);
        return new Promise<string>(() => undefined);
      },
      [slow],
    );
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const first = await session.send('one');
    await tool.begun.opened;
    await (await (await openRuntime(database(), [agent])).session(session)).cancel({ by: 'ann' });
    const second = await session.send('two');
    const signal = await asked.opened;
    const firstEnded = eventsOf(first);
    tool.end.open();
    await firstEnded;
    expect(await first.result()).toMatchObject({ error: { code: 'RUN_CANCELLED' } });
    await session.cancel({ by: 'bob' });
    expect(signal.aborted).toBe(true);
    expect(await second.result()).toMatchObject({ state: 'IDLE', error: { code: 'RUN_CANCELLED' } });
  });
};
