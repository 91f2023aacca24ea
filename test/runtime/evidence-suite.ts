import { expect, test } from 'vitest';
import type { Runtime, Session, SessionState } from '../../index.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../support/runtime-script.ts';
import { waitFor } from '../support/wait-for.ts';
import { typesOf } from './inbox-scene.ts';

/** An agent whose tool `act` waits for `open`, whatever its signal says, and counts. `n` tells its calls apart. */
function lateAgent(effect: 'idempotent' | 'nonRepeatable', more: { timeoutMs?: number } = {}) {
  const gates = [gate(), gate(), gate()];
  const begun = [gate(), gate(), gate()];
  const acts: unknown[] = [];
  const shown: string[][] = [];
  const act = looseTool(
    'act',
    async ({ n }) => {
      const place = acts.push(n) - 1;
      begun[place]!.open();
      await gates[place]!.opened;
      return { acted: n };
    },
    { effect, ...more },
  );
  const agent = scriptedAgent(
    (request) => {
      shown.push(request.turns.map(({ role, text }) => `${role}: ${text}`));
      const { text } = request.turns.findLast(({ role }) => role === 'user')!;
      if (!text.startsWith('act')) return `heard ${text}`;
      return eachRun({ toolCalls: [call('act', { n: Number(text.slice(4)) })] }, `did ${text}`)(request);
    },
    [act],
  );
  return { agent, gates, begun: begun.map(({ opened }) => opened), acts, shown };
}

const AN_HOUR_MS = 60 * 60 * 1_000;

const states = async (session: Session) => (await session.status()).state;

/** Sweeps until the session is in `state`: a heartbeat may come between. */
async function recoverTo(runtime: Runtime, session: Session, state: SessionState): Promise<void> {
  const isThere = async () => {
    await runtime.recover();
    return (await states(session)) === state;
  };
  await waitFor(isThere, { for: `the other worker to bring it to ${state}` });
}

/** Results that come too late to be committed: tokens fence decisions, not facts. */
export const describeEvidence: RuntimeSuite = (database) => {
  const evidence = (sessionId: string) =>
    database().query(
      'SELECT attempt, outcome, output FROM turnlock.agent_tool_evidence WHERE session_id = $1 ORDER BY created_at',
      [sessionId],
    );
  const executions = (sessionId: string) =>
    database().query(
      'SELECT status, attempt, output_payload, settled_by FROM turnlock.agent_tool_executions WHERE session_id = $1 ORDER BY started_at',
      [sessionId],
    );
  const wakes = async (sessionId: string) =>
    (await database().query('SELECT wake_at FROM turnlock.agent_sessions WHERE session_id = $1', [sessionId]))[0]
      .wake_at;

  test('C14 a lost worker finishes its tool: its commit is refused, its result settles the call, and nobody is asked', async () => {
    const { agent, gates, begun, acts } = lateAgent('nonRepeatable');
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await session.send('act 1');
    await begun[0];
    await database().moveClock(LONG_MS);
    const other = await openRuntime(database(), [agent]);
    await recoverTo(other, session, 'AWAITING_INPUT');
    gates[0]!.open();
    await waitFor(async () => (await states(session)) === 'IDLE', { for: 'the session to go on from the evidence' });
    expect(acts).toEqual([1]);
    expect(await evidence(session.sessionId)).toEqual([{ attempt: 1, outcome: 'succeeded', output: { acted: 1 } }]);
    expect(await executions(session.sessionId)).toMatchObject([
      { status: 'SUCCESS', attempt: 1, output_payload: { acted: 1 }, settled_by: null },
    ]);
    expect((await session.history()).map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'user: act 1',
      'assistant: ',
      'tool: {"acted":1}',
      'assistant: did act 1',
    ]);
    expect(await typesOf(session)).toEqual([
      'user.messaged',
      'model.calledTools',
      'worker.tookOver',
      'tool.outcomeUnknown',
      'tool.evidenced',
      'worker.tookOver',
      'model.replied',
    ]);
  });

  test('C70 a result after cancel: the call has its outcome after all, and the model hears of it before its next answer', async () => {
    const { agent, gates, begun, shown } = lateAgent('nonRepeatable');
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await session.send('act 1');
    await begun[0];
    await session.cancel();
    expect(await executions(session.sessionId)).toMatchObject([{ status: 'TIMED_OUT' }]);
    gates[0]!.open();
    await waitFor(async () => (await typesOf(session)).includes('tool.evidenced'), { for: 'the evidence to be taken' });
    expect(await executions(session.sessionId)).toMatchObject([{ status: 'SUCCESS', output_payload: { acted: 1 } }]);
    expect(await states(session)).toBe('IDLE');
    await (await session.send('and now?')).result();
    const late = `system: A late result of the earlier call of act with {"n":1}, whose outcome was told as unknown. It succeeded. Its result: {"acted":1}`;
    expect(shown.at(-1)!.slice(3)).toEqual([late, 'user: and now?']);
    expect(shown.at(-1)![2]).toContain('unknown');
  });

  test('a call that ran out of time and asks a person is settled by its late result', async () => {
    const { agent, gates, begun, acts } = lateAgent('nonRepeatable', { timeoutMs: 1_000 });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const run = await session.send('act 1');
    await begun[0];
    expect(await run.result()).toMatchObject({ state: 'AWAITING_INPUT', awaiting: [{ reason: 'unknown' }] });
    gates[0]!.open();
    await waitFor(async () => (await states(session)) === 'IDLE', { for: 'the session to go on from the evidence' });
    expect(acts).toEqual([1]);
    expect((await session.history()).at(-1)).toMatchObject({ content: 'did act 1' });
  });

  test('what a later attempt settled is not told again: the evidence is kept, and nothing else happens', async () => {
    const { agent, gates, begun, acts } = lateAgent('idempotent');
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await session.send('act 1');
    await begun[0];
    await database().moveClock(LONG_MS);
    const other = await openRuntime(database(), [agent]);
    gates[1]!.open();
    await recoverTo(other, session, 'IDLE');
    const before = [await session.transitions(), await session.history()];
    gates[0]!.open();
    await waitFor(async () => (await evidence(session.sessionId)).length === 1, { for: 'the evidence to be kept' });
    await waitFor(async () => (await wakes(session.sessionId)) === null, { for: 'the wake to be consumed' });
    expect(await other.recover()).toEqual([]);
    expect([await session.transitions(), await session.history()]).toEqual(before);
    expect(acts).toEqual([1, 1]);
  });

  test('whoever waits for the deadline of a lost call takes its late result as soon as it is there', async () => {
    const { agent, gates, begun, acts } = lateAgent('nonRepeatable', { timeoutMs: 2 * AN_HOUR_MS });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await session.send('act 1');
    await begun[0];
    await database().moveClock(AN_HOUR_MS);
    const other = await openRuntime(database(), [agent], { limits: { heartbeatMs: 50 } });
    const recovering = other.recover();
    await waitFor(async () => (await typesOf(session)).includes('worker.tookOver'), { for: 'the takeover' });
    gates[0]!.open();
    expect(await recovering).toMatchObject([{ state: 'IDLE' }]);
    expect(acts).toEqual([1]);
    expect((await typesOf(session)).slice(2)).toEqual(['worker.tookOver', 'tool.evidenced', 'model.replied']);
  });

  test('whoever waits for the deadline of a lost call is closed at once, and another one waits on', async () => {
    const { agent, gates, begun } = lateAgent('nonRepeatable', { timeoutMs: 2 * AN_HOUR_MS });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await session.send('act 1');
    await begun[0];
    await database().moveClock(AN_HOUR_MS);
    const other = await openRuntime(database(), [agent]);
    const recovering = expect(other.recover()).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' });
    await waitFor(async () => (await typesOf(session)).includes('worker.tookOver'), { for: 'the takeover' });
    await other.close();
    await recovering;
    expect(await states(session)).toBe('EXECUTING_TOOL');
    gates[0]!.open();
    await waitFor(async () => (await states(session)) === 'IDLE', { for: 'the session to go on from the evidence' });
  });

  test('evidence that comes while calls are open waits: nothing stands between a call and its tool turn', async () => {
    const { agent, gates, begun } = lateAgent('nonRepeatable');
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await session.send('act 1');
    await begun[0];
    await session.cancel();
    const run = await session.send('act 2');
    await begun[1];
    gates[0]!.open();
    await waitFor(async () => (await evidence(session.sessionId)).length === 1, { for: 'the evidence to be kept' });
    gates[1]!.open();
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'did act 2' });
    const roles = (await session.history()).map(({ role }) => role);
    expect(roles).toEqual(['user', 'assistant', 'tool', 'user', 'assistant', 'tool', 'system', 'assistant']);
    expect((await typesOf(session)).slice(-4)).toEqual([
      'model.calledTools',
      'tool.settled',
      'tool.evidenced',
      'model.replied',
    ]);
  });

  test('evidence of a process that died right after it is found by another one', async () => {
    const { agent, begun } = lateAgent('nonRepeatable', { timeoutMs: 1_000 });
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const run = await session.send('act 1');
    await begun[0];
    const { awaiting } = await run.result();
    const insert = `INSERT INTO turnlock.agent_tool_evidence (tenant_id, session_id, execution_id, attempt, token, outcome, error_code, error_message)
      VALUES ($1, $2, $3, 1, 1, 'failed', 'TOOL_FAILED', 'the bank said no')`;
    await database().query(insert, [session.tenantId, session.sessionId, awaiting[0]!.executionId]);
    expect(await (await openRuntime(database(), [agent])).recover()).toMatchObject([
      { sessionId: session.sessionId, state: 'IDLE' },
    ]);
    expect((await session.history())[2]).toMatchObject({ content: 'The call failed: the bank said no' });
  });

  test('a late result that comes while a model answers is not forgotten: whoever looks next finds it', async () => {
    const begun = gate();
    const act = looseTool('act', async () => {
      begun.open();
      return new Promise(() => undefined);
    });
    const insert = `INSERT INTO turnlock.agent_tool_evidence (tenant_id, session_id, execution_id, attempt, token, outcome, error_code, error_message)
      SELECT s.tenant_id, session_id, execution_id, 1, 1, 'failed', 'TOOL_FAILED', 'the bank said no'
        FROM turnlock.agent_sessions s JOIN turnlock.agent_tool_executions USING (session_id) WHERE session_id = $1`;
    const agent = scriptedAgent(
      async ({ turns }) => {
        if (turns.at(-1)!.text === 'act 1') return { toolCalls: [call('act', { n: 1 })] };
        await database().query(insert, [session.sessionId]);
        return 'heard it';
      },
      [act],
    );
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await session.send('act 1');
    await begun.opened;
    await session.cancel();
    expect(await (await session.send('and now?')).result()).toMatchObject({ state: 'IDLE', reply: 'heard it' });
    const other = await openRuntime(database(), [agent]);
    expect(await other.recover()).toMatchObject([{ sessionId: session.sessionId, state: 'IDLE' }]);
    expect((await session.history()).at(-1)).toMatchObject({ role: 'system' });
    expect(await other.recover()).toEqual([]);
  });

  test('what a tool throws after its signal aborted says nothing, and is not kept', async () => {
    const begun = gate();
    const heedful = looseTool('act', (_params, { signal }) => {
      begun.open();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('act')] }, 'done'), [heedful]);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await session.send('go');
    await begun.opened;
    await session.cancel();
    await runtime.close();
    expect(await evidence(session.sessionId)).toEqual([]);
  });
};
