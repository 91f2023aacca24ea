import { expect, test } from 'vitest';
import { z } from 'zod';
import { systemEnvironment } from '../../environment.ts';
import { defineTool, type Settlement } from '../../index.ts';
import { ManualClock } from '../../testing/clock/manual-clock.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../support/runtime-script.ts';
import { waitFor } from '../support/wait-for.ts';

const TIMEOUT_MS = 60_000;

function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

/** Calls that take too long, and more calls than may run side by side. */
export const describeTimes: RuntimeSuite = (database) => {
  /** A clock, and a tool call that lets its whole time pass and only stops when it is told to. */
  function timeThatPasses() {
    const clock = new ManualClock();
    const overrun = async (signal: AbortSignal): Promise<never> => {
      await database().moveClock(TIMEOUT_MS);
      clock.advance(TIMEOUT_MS);
      return hang(signal);
    };
    return { clock, overrun };
  }

  test('a time-out of an idempotent call retries with the same key, then is told as unknown', async () => {
    const keys: string[] = [];
    const attempts: number[] = [];
    const reasons: unknown[] = [];
    const { clock, overrun } = timeThatPasses();
    const slow = looseTool(
      'slow',
      (_, { idempotencyKey, attempt, signal }) => {
        keys.push(idempotencyKey);
        attempts.push(attempt);
        signal.addEventListener('abort', () => reasons.push((signal.reason as { code: string }).code));
        return overrun(signal);
      },
      { timeoutMs: TIMEOUT_MS },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('slow')] }, 'done'), [slow]);
    const session = await openSession(await openRuntime(database(), [agent], { environment: clock }), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(attempts).toEqual([1, 2, 3]);
    expect(new Set(keys).size).toBe(1);
    expect(reasons).toEqual(Array(3).fill('TOOL_TIMED_OUT'));
    const answer = (await session.history())[2]!;
    expect(answer.parts).toMatchObject([{ outcome: 'unknown' }]);
    expect(answer.content).toMatch(/unknown/);
    expect(answer.content).not.toMatch(/failed/);
    const [row] = await database().query(
      'SELECT status, attempt, error_code FROM turnlock.agent_tool_executions WHERE session_id = $1',
      [session.sessionId],
    );
    expect(row).toEqual({ status: 'TIMED_OUT', attempt: 3, error_code: 'TOOL_TIMED_OUT' });
  });

  test('an idempotent call that answers at its second attempt succeeds', async () => {
    const { clock, overrun } = timeThatPasses();
    const slow = looseTool('slow', (_, { attempt, signal }) => (attempt === 1 ? overrun(signal) : 'second'), {
      timeoutMs: TIMEOUT_MS,
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('slow')] }, 'done'), [slow]);
    const session = await openSession(await openRuntime(database(), [agent], { environment: clock }), agent);
    await (await session.send('go')).result();
    expect((await session.history())[2]).toMatchObject({ content: 'second', parts: [{ outcome: 'succeeded' }] });
  });

  /** A nonRepeatable call whose first attempt runs out of time. */
  async function unknownOutcome() {
    const keys: string[] = [];
    const { clock, overrun } = timeThatPasses();
    const charge = looseTool(
      'charge',
      (_, { idempotencyKey, attempt, signal }) => {
        keys.push(idempotencyKey);
        return attempt === 1 ? overrun(signal) : { charged: true };
      },
      { effect: 'nonRepeatable', timeoutMs: TIMEOUT_MS },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('charge', { cents: 5 })] }, 'done'), [charge]);
    const session = await openSession(await openRuntime(database(), [agent], { environment: clock }), agent);
    const result = await (await session.send('go')).result();
    return { keys, session, result };
  }

  test('C06 C65 a time-out of a nonRepeatable call asks a person, and the message waits', async () => {
    const { keys, session, result } = await unknownOutcome();
    expect(result).toMatchObject({
      state: 'AWAITING_INPUT',
      reply: null,
      error: null,
      awaiting: [{ toolName: 'charge', params: { cents: 5 }, reason: 'unknown', idempotencyKey: keys[0] }],
    });
    expect(keys).toHaveLength(1);
    await expect(session.send('and now?', { whenBusy: 'reject' })).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    const [row] = await database().query(
      'SELECT status, unknown_reason, unknown_at IS NULL AS is_known FROM turnlock.agent_tool_executions WHERE session_id = $1',
      [session.sessionId],
    );
    expect(row).toEqual({ status: 'RUNNING', unknown_reason: 'timeout', is_known: false });
  });

  test.each<[Settlement, { outcome: string; content: RegExp; runs: number; settledBy: string | null }]>([
    [
      { outcome: 'succeeded', output: { charged: 5 }, by: 'ann' },
      { outcome: 'succeeded', content: /^\{"charged":5\}$/, runs: 1, settledBy: 'ann' },
    ],
    [
      { outcome: 'failed', reason: 'the bank refused', by: 'ann' },
      { outcome: 'failed', content: /the bank refused/, runs: 1, settledBy: 'ann' },
    ],
    [
      { outcome: 'runAgain', by: 'ann' },
      { outcome: 'succeeded', content: /^\{"charged":true\}$/, runs: 2, settledBy: null },
    ],
  ])('a person settles an unknown outcome: %o', async (settlement, wanted) => {
    const { keys, session, result } = await unknownOutcome();
    const { executionId } = result.awaiting[0]!;
    const run = await session.settle(executionId, settlement);
    expect(run.runId).toBe(result.runId);
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done', awaiting: [] });
    expect((await session.history())[2]).toMatchObject({
      content: expect.stringMatching(wanted.content),
      parts: [{ outcome: wanted.outcome }],
    });
    expect(keys).toHaveLength(wanted.runs);
    expect(new Set(keys).size).toBe(1);
    const [row] = await database().query(
      'SELECT settled_by FROM turnlock.agent_tool_executions WHERE execution_id = $1',
      [executionId],
    );
    expect(row.settled_by).toBe(wanted.settledBy);
    await expect(session.settle(executionId, { outcome: 'failed', reason: 'late', by: 'bob' })).rejects.toMatchObject({
      code: 'EXECUTION_SETTLED',
    });
  });

  test('what cannot be settled is refused, and nothing changes', async () => {
    const { session, result } = await unknownOutcome();
    const { executionId } = result.awaiting[0]!;
    const before = await session.status();
    const unknownId = systemEnvironment.uuid();
    await expect(session.settle(unknownId, { outcome: 'runAgain', by: 'ann' })).rejects.toMatchObject({
      code: 'EXECUTION_NOT_FOUND',
    });
    const wrong = { outcome: 'perhaps', by: 'ann' } as unknown as Settlement;
    await expect(session.settle(executionId, wrong)).rejects.toMatchObject({ code: 'OUTCOME_INVALID' });
    await expect(session.settle(executionId, { outcome: 'succeeded', output: 1n, by: 'ann' })).rejects.toMatchObject({
      code: 'VALUE_INVALID',
    });
    await expect(session.settle(executionId, { outcome: 'runAgain', by: '' })).rejects.toMatchObject({
      code: 'VALUE_INVALID',
    });
    expect(await session.status()).toEqual(before);
  });

  test('C65 two rounds of asking, one after the other in one run', async () => {
    const keys: string[] = [];
    const { clock, overrun } = timeThatPasses();
    const charge = looseTool(
      'charge',
      (_, { idempotencyKey, signal }) => {
        keys.push(idempotencyKey);
        return overrun(signal);
      },
      { effect: 'nonRepeatable', timeoutMs: TIMEOUT_MS },
    );
    const agent = scriptedAgent(
      eachRun({ toolCalls: [call('charge', { n: 1 })] }, { toolCalls: [call('charge', { n: 2 })] }, 'done'),
      [charge],
    );
    const session = await openSession(await openRuntime(database(), [agent], { environment: clock }), agent);
    const first = await (await session.send('go')).result();
    const settle = async ({ awaiting }: typeof first) =>
      (await session.settle(awaiting[0]!.executionId, { outcome: 'succeeded', by: 'ann' })).result();
    const second = await settle(first);
    expect(second).toMatchObject({ state: 'AWAITING_INPUT', runId: first.runId, awaiting: [{ params: { n: 2 } }] });
    expect(await settle(second)).toMatchObject({ state: 'IDLE', runId: first.runId, reply: 'done' });
    expect(new Set(keys).size).toBe(2);
  });

  test('C09 what ran before a person was asked does not run again afterwards', async () => {
    const count = { look: 0, charge: 0 };
    const { clock, overrun } = timeThatPasses();
    const look = looseTool('look', () => ++count.look);
    const settled = gate();
    const charge = looseTool(
      'charge',
      async (_, { signal }) => {
        count.charge += 1;
        await settled.opened; // a commit under way while time jumps would have read the time before
        return overrun(signal);
      },
      {
        effect: 'nonRepeatable',
        timeoutMs: TIMEOUT_MS,
      },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('look'), call('charge')] }, 'done'), [look, charge]);
    const session = await openSession(await openRuntime(database(), [agent], { environment: clock }), agent);
    const run = await session.send('go');
    for await (const event of run) {
      if (event.type === 'transition' && event.event.type === 'tool.settled') settled.open();
    }
    const { awaiting } = await run.result();
    const elsewhere = await (await openRuntime(database(), [agent])).session(session);
    const next = await elsewhere.settle(awaiting[0]!.executionId, { outcome: 'succeeded', output: 'seen', by: 'ann' });
    expect(await next.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(count).toEqual({ look: 1, charge: 1 });
    expect((await session.history()).map(({ content }) => content)).toEqual(['go', '', '1', 'seen', 'done']);
  });

  test('no more calls run side by side than allowed; the others wait as PENDING and all are answered in order', async () => {
    const gates = Array.from({ length: 7 }, () => gate());
    const started: number[] = [];
    let running = 0;
    let most = 0;
    const work = looseTool('work', async (params) => {
      const n = Number(params.n);
      started.push(n);
      most = Math.max(most, ++running);
      await gates[n]!.opened;
      running -= 1;
      return n;
    });
    const toolCalls = gates.map((_, n) => call('work', { n }));
    const agent = scriptedAgent(eachRun({ toolCalls }, 'done'), [work]);
    const session = await openSession(
      await openRuntime(database(), [agent], { limits: { maxParallelTools: 3 } }),
      agent,
    );
    const run = await session.send('go');
    const statuses: string[][] = [];
    for await (const event of run) {
      if (event.type !== 'transition') continue;
      const rows = await database().query(
        'SELECT status FROM turnlock.agent_tool_executions WHERE session_id = $1 ORDER BY ordinal',
        [session.sessionId],
      );
      statuses.push(rows.map(({ status }) => status));
      for (const n of started.splice(0).reverse()) gates[n]!.open();
    }
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(most).toBe(3);
    expect(statuses[1]).toEqual(['RUNNING', 'RUNNING', 'RUNNING', ...Array(4).fill('PENDING')]);
    for (const row of statuses) expect(row.filter((status) => status === 'RUNNING').length).toBeLessThanOrEqual(3);
    const answers = (await session.history()).filter(({ role }) => role === 'tool');
    expect(answers.map(({ callOrdinal, content }) => [callOrdinal, content])).toEqual(
      gates.map((_, n) => [n, String(n)]),
    );
  });

  test('a lease is extended while a tool runs, so nobody else takes the session', async () => {
    const { opened: begun, open: begin } = gate();
    const { opened, open } = gate();
    const slow = looseTool(
      'slow',
      async () => {
        begin();
        await opened;
        return 'x';
      },
      { timeoutMs: 3_600_000 },
    );
    const clock = new ManualClock();
    const agent = scriptedAgent(eachRun({ toolCalls: [call('slow')] }, 'done'), [slow]);
    const session = await openSession(await openRuntime(database(), [agent], { environment: clock }), agent);
    const other = await openRuntime(database(), [agent]);
    const run = await session.send('go');
    await begun;
    for (let beat = 1; beat <= 4; beat += 1) {
      await database().moveClock(10_000);
      clock.advance(10_000);
      await waitFor(
        async () => {
          const [row] = await database().query(
            `SELECT lease_expires_at > turnlock.turnlock_now() + interval '12 seconds' AS is_fresh
              FROM turnlock.agent_sessions WHERE session_id = $1`,
            [session.sessionId],
          );
          return row.is_fresh;
        },
        { for: 'the lease to be extended' },
      );
      expect(await other.recover()).toEqual([]);
    }
    open();
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    const types = (await session.transitions()).map(({ type }) => type);
    expect(types).toEqual(['user.messaged', 'model.calledTools', 'tool.settled', 'model.replied']);
  });

  test('C61 a host clock two hours off and another zone change neither leases nor deadlines nor times', async () => {
    const zone = process.env.TZ;
    process.env.TZ = 'Asia/Tokyo';
    try {
      for (const offMs of [-2 * 3_600_000, 2 * 3_600_000]) {
        const { opened, open } = gate();
        const slow = defineTool({
          name: 'slow',
          description: 'Waits.',
          inputSchema: z.looseObject({}),
          execute: () => opened,
          timeoutMs: 60_000,
        });
        const agent = scriptedAgent(eachRun({ toolCalls: [call('slow')] }, 'done'), [slow]);
        const environment = { ...systemEnvironment, now: () => Date.now() + offMs };
        const session = await openSession(await openRuntime(database(), [agent], { environment }), agent);
        const run = await session.send('go');
        for await (const event of run) if (event.type === 'transition' && event.to === 'EXECUTING_TOOL') break;
        const [row] = await database().query(
          `SELECT extract(epoch FROM s.lease_expires_at - s.updated_at) * 1000 AS lease,
              extract(epoch FROM e.deadline_at - s.updated_at) * 1000 AS deadline,
              abs(extract(epoch FROM turnlock.turnlock_now() - s.updated_at)) < 60 AS is_now
            FROM turnlock.agent_sessions s JOIN turnlock.agent_tool_executions e USING (session_id)
            WHERE session_id = $1`,
          [session.sessionId],
        );
        expect({ ...row, lease: Number(row.lease), deadline: Number(row.deadline) }).toEqual({
          lease: 15_000,
          deadline: 60_000,
          is_now: true,
        });
        const other = await openRuntime(database(), [agent]);
        expect(await other.recover()).toEqual([]);
        open();
        expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
        const [{ now }] = await database().query('SELECT extract(epoch FROM turnlock.turnlock_now()) * 1000 AS now');
        const { createdAt } = (await session.history())[0]!;
        expect(Math.abs(createdAt.getTime() - Number(now))).toBeLessThan(60_000);
      }
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });
};
