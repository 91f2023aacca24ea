import { expect, test } from 'vitest';
import { isTurnlockError } from '../../index.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, eventsOf, gate, looseTool } from '../support/runtime-script.ts';

/** What a run is when nothing goes wrong outside. */
export const describeRuns: RuntimeSuite = (database) => {
  test('a run with one tool call is four commits', async () => {
    const double = looseTool('double', ({ n }) => Number(n) * 2);
    const agent = scriptedAgent(eachRun({ toolCalls: [call('double', { n: 21 })] }, 'It is 42.'), [double]);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const run = await session.send('Double 21.');
    expect(await run.result()).toEqual({
      sessionId: session.sessionId,
      runId: run.runId,
      state: 'IDLE',
      queued: false,
      reply: 'It is 42.',
      output: null,
      awaiting: [],
      error: null,
    });
    const transitions = await session.transitions();
    expect(transitions.map(({ sequence, type, from, to }) => [sequence, type, from, to])).toEqual([
      [1, 'user.messaged', 'IDLE', 'PLANNING'],
      [2, 'model.calledTools', 'PLANNING', 'EXECUTING_TOOL'],
      [3, 'tool.settled', 'EXECUTING_TOOL', 'PLANNING'],
      [4, 'model.replied', 'PLANNING', 'IDLE'],
    ]);
    expect(new Set(transitions.map(({ token }) => token))).toEqual(new Set([1]));
    expect((await session.history()).map(({ turnIndex, role, content }) => [turnIndex, role, content])).toEqual([
      [0, 'user', 'Double 21.'],
      [1, 'assistant', ''],
      [2, 'tool', '42'],
      [3, 'assistant', 'It is 42.'],
    ]);
    const [row] = await database().query(
      'SELECT version, lease_holder, lease_expires_at, recoveries FROM turnlock.agent_sessions WHERE session_id = $1',
      [session.sessionId],
    );
    expect(row).toEqual({ version: 4, lease_holder: null, lease_expires_at: null, recoveries: 0 });
  });

  test('a subscriber sees each committed transition, once and in order, also one that comes late', async () => {
    const agent = scriptedAgent(eachRun({ toolCalls: [call('noop')] }, 'done'), [looseTool('noop', () => null)]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const run = await session.send('go');
    await run.result();
    const seen = await eventsOf(run);
    const sequences = seen.flatMap((event) => (event.type === 'transition' ? [event.sequence] : []));
    expect(sequences).toEqual([1, 2, 3, 4]);
    expect(seen.filter((event) => event.type === 'delta').map((event) => event.text)).toEqual(['done']);
  });

  test('C01 a committed result stays, and only the failed call is decided anew', async () => {
    const acts: string[] = [];
    let isDown = true;
    const act = (name: string) => () => {
      acts.push(name);
      if (name === 'notify' && isDown) throw new Error('mail server is down');
      return `${name} done`;
    };
    const tools = ['charge', 'refund', 'notify'].map((name) => looseTool(name, act(name), { effect: 'nonRepeatable' }));
    const steps = ['charge', 'refund', 'notify'].map((name) => ({ toolCalls: [call(name)] }));
    const agent = scriptedAgent(eachRun(...steps, 'notify failed'), tools);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'notify failed' });
    expect(acts).toEqual(['charge', 'refund', 'notify']);
    const told = (await session.history()).filter(({ role }) => role === 'tool');
    expect(told.map(({ parts }) => (parts[0] as { outcome: string }).outcome)).toEqual([
      'succeeded',
      'succeeded',
      'failed',
    ]);
    isDown = false;
    const again = scriptedAgent(eachRun({ toolCalls: [call('notify')] }, 'all done'), tools, agent.name);
    const resumed = await (await openRuntime(database(), [again])).session(session);
    expect(await (await resumed.send('try again')).result()).toMatchObject({ reply: 'all done' });
    expect(acts).toEqual(['charge', 'refund', 'notify', 'notify']);
  });

  test('C30 a stream that breaks after a call was seen starts nothing; the next attempt counts', async () => {
    let starts = 0;
    const attempts: number[] = [];
    const agent = scriptedAgent(
      ({ turns, attempt }, { emit }) => {
        if (turns.at(-1)?.role === 'tool') return 'done';
        attempts.push(attempt);
        emit({ type: 'text', text: 'calling charge …' });
        if (attempt === 1) throw new Error('stream broke');
        return { toolCalls: [call('charge')] };
      },
      [looseTool('charge', () => (starts += 1), { effect: 'nonRepeatable' })],
    );
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const run = await session.send('go');
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect([attempts, starts]).toEqual([[1, 2], 1]);
    const deltas = (await eventsOf(run)).filter((event) => event.type === 'delta');
    expect(deltas.map(({ attempt }) => attempt)).toEqual([1, 2, 1]);
    const calls = await database().query(
      'SELECT attempt, error_code, error_message FROM turnlock.agent_model_calls WHERE session_id = $1 ORDER BY started_at, attempt',
      [session.sessionId],
    );
    expect(calls).toEqual([
      { attempt: 1, error_code: 'MODEL_FAILED', error_message: 'stream broke' },
      { attempt: 2, error_code: null, error_message: null },
      { attempt: 1, error_code: null, error_message: null },
    ]);
  });

  test('C31 a tool that throws is told as failed, and its parallel siblings are recorded on their own', async () => {
    const bad = looseTool('bad', () => {
      throw new Error('no such order');
    });
    const good = looseTool('good', ({ n }) => n);
    const toolCalls = [call('good', { n: 1 }), call('bad'), call('good', { n: 2 })];
    const agent = scriptedAgent(eachRun({ toolCalls }, 'done'), [bad, good]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', error: null });
    const rows = await database().query(
      'SELECT status, error_code, error_message FROM turnlock.agent_tool_executions WHERE session_id = $1 ORDER BY ordinal',
      [session.sessionId],
    );
    expect(rows).toEqual([
      { status: 'SUCCESS', error_code: null, error_message: null },
      { status: 'FAILED', error_code: 'TOOL_FAILED', error_message: 'no such order' },
      { status: 'SUCCESS', error_code: null, error_message: null },
    ]);
  });

  test('a message that is not to wait is refused by a busy session and leaves no trace', async () => {
    const { opened, open } = gate();
    const agent = scriptedAgent(async () => {
      await opened;
      return 'done';
    });
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const run = await session.send('first');
    const other = await openRuntime(database(), [agent]);
    for (const handle of [session, await runtime.session(session), await other.session(session)]) {
      await expect(handle.send('second', { whenBusy: 'reject' })).rejects.toSatisfy((error) =>
        isTurnlockError(error, 'SESSION_BUSY'),
      );
    }
    open();
    await run.result();
    expect((await session.history()).map(({ content }) => content)).toEqual(['first', 'done']);
    await (await session.send('third')).result();
    expect(await session.history()).toHaveLength(4);
  });

  test('result() settles on any handle of any runtime, whoever drives the run', async () => {
    const { opened, open } = gate();
    const agent = scriptedAgent(async () => {
      await opened;
      return 'done';
    });
    const first = await openRuntime(database(), [agent]);
    const second = await openRuntime(database(), [agent]);
    const session = await openSession(first, agent);
    const run = await session.send('go', { messageId: 'm1' });
    const elsewhere = await second.session(session);
    const follower = await elsewhere.send('go', { messageId: 'm1' });
    expect(follower).toMatchObject({ repeated: true, runId: run.runId });
    const results = Promise.all([run.result(), run.result(), follower.result()]);
    open();
    const [one, two, three] = await results;
    expect(one).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect([two, three]).toEqual([one, one]);
  });
};
