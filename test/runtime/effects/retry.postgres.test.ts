import { expect, test } from 'vitest';
import { type ToolEffect, ToolError } from '../../../index.ts';
import { ManualClock } from '../../../testing/clock/manual-clock.ts';
import { openMortal } from '../../support/runtime-crash.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { type OpenOptions, openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';

const AT_ONCE = { initialMs: 0, maxMs: 0 };
const AN_HOUR = { initialMs: 3_600_000, maxMs: 3_600_000, jitter: 0 };

onPostgres((database) => {
  /** A run of one call that throws what it is given for each attempt, and then answers. */
  async function callThat(
    { effect = 'nonRepeatable' as ToolEffect, attempts = 3, backoff = AT_ONCE },
    thrown: unknown[],
    options: OpenOptions = {},
  ) {
    const keys: string[] = [];
    const charge = looseTool(
      'charge',
      (_, { attempt, idempotencyKey }) => {
        keys.push(idempotencyKey);
        if (attempt <= thrown.length) throw thrown[attempt - 1];
        return 'charged';
      },
      { effect, retry: { attempts, backoff } },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge]);
    const runtime = await openRuntime(database(), [agent], options);
    const session = await openSession(runtime, agent);
    const run = await session.send('go');
    const row = async () =>
      (
        await database().query(
          `SELECT status, attempt, error_code, error_message, retry_at FROM turnlock.agent_tool_executions WHERE session_id = $1`,
          [session.sessionId],
        )
      )[0];
    return { keys, runtime, agent, session, run, row };
  }

  const busy = () => new ToolError('busy', { retryable: true, code: 'BANK_BUSY' });

  test('C03 a call that is known to have failed is tried again with the same key, and its failures are on record', async () => {
    const { keys, session, run, row } = await callThat({}, [busy(), busy()]);
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
    expect(await row()).toEqual({
      status: 'SUCCESS',
      attempt: 3,
      error_code: null,
      error_message: null,
      retry_at: null,
    });
    expect((await session.transitions()).map(({ type }) => type)).toEqual([
      'user.messaged',
      'model.calledTools',
      'tool.attemptFailed',
      'execution.started',
      'tool.attemptFailed',
      'execution.started',
      'tool.settled',
      'model.replied',
    ]);
  });

  test('a call whose attempts are used up has failed, with the code and the message of the last one', async () => {
    const { keys, session, run, row } = await callThat({ attempts: 2 }, [busy(), busy(), busy()]);
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(keys).toHaveLength(2);
    expect(await row()).toMatchObject({ status: 'FAILED', attempt: 2, error_code: 'BANK_BUSY', retry_at: null });
    expect((await session.history())[2]).toMatchObject({
      content: 'The call failed: busy',
      parts: [{ outcome: 'failed' }],
    });
  });

  test.each<[string, ToolEffect, unknown, number]>([
    ['a plain error, readOnly', 'readOnly', new Error('no'), 2],
    ['a plain error, idempotent', 'idempotent', new Error('no'), 2],
    ['a plain error, nonRepeatable: it may have acted', 'nonRepeatable', new Error('no'), 1],
    ['a ToolError that is final, idempotent', 'idempotent', new ToolError('no'), 1],
    ['one of another copy of the package', 'nonRepeatable', copyOfToolError({ retryable: true }), 2],
    ['a proxy that throws', 'nonRepeatable', angryProxy(), 1],
  ])('%s', async (_title, effect, thrown, times) => {
    const { keys, run } = await callThat({ effect }, [thrown]);
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(keys).toHaveLength(times);
  });

  test('a receiver that asks for more time than the back-off gets it, within a bound', async () => {
    const clock = new ManualClock();
    const asked = new ToolError('busy', { retryable: true, retryAfterMs: 300_000 });
    const { keys, run } = await callThat({}, [asked], { environment: clock, limits: { heartbeatMs: 3_000 } });
    await waitFor(async () => (await attemptsOf(run.sessionId)).length > 0, { for: 'the failure to be committed' });
    expect(await attemptsOf(run.sessionId)).toMatchObject([{ retryInMs: 300_000 }]);
    expect(keys).toHaveLength(1);
    clock.advance(301_000);
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(keys).toHaveLength(2);
  });

  test('a back-off survives its process: the next one waits for the rest of it, and the attempt is counted', async () => {
    const keys: string[] = [];
    const charge = looseTool(
      'charge',
      (_, { attempt, idempotencyKey }) => {
        keys.push(`${attempt} ${idempotencyKey}`);
        if (attempt === 1) throw busy();
        return 'charged';
      },
      { effect: 'nonRepeatable', retry: { attempts: 2, backoff: AN_HOUR } },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge]);
    const { runtime, plan } = await openMortal(database(), [agent]);
    const session = await openSession(runtime, agent);
    for await (const event of await session.send('go')) {
      if (event.type === 'transition' && event.event.type === 'tool.attemptFailed') break;
    }
    void plan.crash();
    await database().moveClock(60_000);
    const clock = new ManualClock();
    const limits = { leaseMs: 3_600_000, heartbeatMs: 3_000_000 };
    const second = await openRuntime(database(), [agent], { limits, environment: clock });
    const recovering = second.recover();
    await waitFor(() => clock.sleepsMs.some((ms) => ms > 50_000 && ms <= 60_000), { for: 'the next process to wait' });
    expect(keys).toHaveLength(1);
    await database().moveClock(3_600_000);
    clock.advance(3_600_000);
    expect(await recovering).toMatchObject([{ state: 'IDLE' }]);
    expect(keys.map((key) => key.slice(0, 2))).toEqual(['1 ', '2 ']);
    expect(new Set(keys.map((key) => key.slice(2))).size).toBe(1);
  });

  test('a runtime that closes during a back-off leaves the session to whoever comes when it is over', async () => {
    const { keys, runtime, agent, session, row } = await callThat({ backoff: AN_HOUR }, [busy()]);
    await waitFor(async () => Boolean((await row())?.retry_at), { for: 'the failure to be committed' });
    await runtime.close();
    const [left] = await database().query(
      `SELECT s.lease_holder, s.wake_at = x.retry_at AS wakes FROM turnlock.agent_sessions s
         JOIN turnlock.agent_tool_executions x USING (session_id) WHERE session_id = $1`,
      [session.sessionId],
    );
    expect(left).toEqual({ lease_holder: null, wakes: true });
    const second = await openRuntime(database(), [agent]);
    expect(await second.recover()).toEqual([]);
    await database().moveClock(3_600_000);
    expect(await second.recover()).toMatchObject([{ state: 'IDLE' }]);
    expect(keys).toHaveLength(2);
  });

  test('a call that is cancelled while it waits has failed: it is known that it did nothing', async () => {
    const { session, row } = await callThat({ backoff: AN_HOUR }, [busy()]);
    await waitFor(async () => Boolean((await row())?.retry_at), { for: 'the failure to be committed' });
    await session.cancel({ by: 'ann' });
    expect(await row()).toMatchObject({ status: 'FAILED', attempt: 1, retry_at: null });
    expect((await session.history())[2]).toMatchObject({ parts: [{ outcome: 'failed' }] });
  });

  test('C31 a sibling is neither held up by a back-off nor run again with it', async () => {
    let noted = 0;
    const note = looseTool('note', () => {
      noted += 1;
    });
    const charge = looseTool(
      'charge',
      (_, { attempt }) => {
        if (attempt === 1) throw busy();
        return 'charged';
      },
      { effect: 'nonRepeatable', retry: { attempts: 2, backoff: AT_ONCE } },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('charge'), call('note')] }, 'done'), [charge, note]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(noted).toBe(1);
    const history = await session.history();
    expect(history.slice(2, 4).map(({ parts }) => parts)).toMatchObject([
      [{ toolName: 'charge', outcome: 'succeeded' }],
      [{ toolName: 'note', outcome: 'succeeded' }],
    ]);
  });

  async function attemptsOf(sessionId: string) {
    const rows = await database().query(
      `SELECT p.payload FROM turnlock.agent_transitions t JOIN turnlock.agent_transition_payloads p USING (session_id, sequence)
        WHERE session_id = $1 AND t.event = 'tool.attemptFailed'`,
      [sessionId],
    );
    return rows.flatMap(({ payload }) => payload.event.results);
  }
});

function copyOfToolError(options: { retryable: boolean }): Error {
  const brand = { [Symbol.for('turnlock.toolError')]: true };
  return Object.assign(new Error('busy'), brand, { retryAfterMs: null, code: 'X', outcome: 'failed', ...options });
}

function angryProxy(): unknown {
  const refuse = () => {
    throw new Error('leave me alone');
  };
  return new Proxy({}, { get: refuse, has: refuse, getPrototypeOf: refuse });
}
