import { expect, test } from 'vitest';
import { z } from 'zod';
import type { InputSchema, Tool } from '../../adapters/tools/tool.contract.ts';
import { type Agent, defineTool, type Session, type ToolContext, versioned } from '../../index.ts';
import { paramsDigest } from '../../persistence/keys/params-digest.ts';
import { openMortal } from '../support/runtime-crash.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';

const V1 = z.object({ order: z.number() });
const V2 = z.object({ orderId: z.string() });
const raised = versioned(V1).to(V2, ({ order }) => ({ orderId: `A-${order}` }));

interface Seen {
  params: unknown;
  key: string;
  attempt: number;
}

/** The tool `pay`, which may be repeated unless told otherwise, and what its calls saw. */
function pay(inputSchema: InputSchema, seen: Seen[] = [], effect: 'idempotent' | 'nonRepeatable' = 'idempotent'): Tool {
  const execute = (params: unknown, { idempotencyKey: key, attempt }: ToolContext) => {
    seen.push({ params, key, attempt });
    return 'paid';
  };
  return defineTool({ name: 'pay', description: 'Pays.', inputSchema, effect, execute });
}

const answers = eachRun({ toolCalls: [call('pay', { order: 7 }), call('pay', { order: 8 })] }, 'all paid');

onPostgres((database) => {
  /** The build of version 1 plans two calls, starts one, and dies in it: the other one is PENDING. */
  async function parked(effect: 'idempotent' | 'nonRepeatable' = 'idempotent', script = answers) {
    const agent = scriptedAgent(script, [pay(V1, [], effect)]);
    const faults = [{ point: 'insideEffect', occurrence: 2, fault: 'crash' }] as const;
    const { runtime, plan } = await openMortal(database(), [agent], faults, { maxParallelTools: 1 });
    const session = await openSession(runtime, agent);
    void session.send('go').catch(() => undefined);
    await plan.struck;
    await database().moveClock(LONG_MS);
    return { session, next: (tools: Tool[]): Agent => scriptedAgent(script, tools, agent.name) };
  }

  const rowsOf = ({ sessionId }: Session) =>
    database().query(
      `SELECT status, attempt, tool_version, input_parameters, params_digest, idempotency_key, upgraded_version, upgraded_parameters,
          upgraded_digest, error_code FROM turnlock.agent_tool_executions WHERE session_id = $1 ORDER BY ordinal`,
      [sessionId],
    );

  test('C69 calls that wait are upgraded before they run; row, digest and key stay as they were written', async () => {
    const { session, next } = await parked();
    const before = await rowsOf(session);
    expect(before).toMatchObject([{ status: 'RUNNING' }, { status: 'PENDING' }]);
    const seen: Seen[] = [];
    const runtime = await openRuntime(database(), [next([pay(raised, seen)])]);
    expect(await runtime.recover()).toMatchObject([{ state: 'IDLE' }]);
    expect(seen).toEqual([
      { params: { orderId: 'A-7' }, key: before[0].idempotency_key, attempt: 2 },
      { params: { orderId: 'A-8' }, key: before[1].idempotency_key, attempt: 1 },
    ]);
    for (const [place, row] of (await rowsOf(session)).entries()) {
      const { tool_version, input_parameters, params_digest, idempotency_key } = before[place];
      const orderId = `A-${7 + place}`;
      expect(row).toMatchObject({ status: 'SUCCESS', tool_version, input_parameters, params_digest, idempotency_key });
      expect(row).toMatchObject({ upgraded_version: 2, upgraded_parameters: { orderId }, error_code: null });
      expect(row.upgraded_digest).toBe(paramsDigest({ orderId }));
    }
    const here = await runtime.session(session);
    // What was asked is read as it was asked, whatever the tool is by now.
    const [, asked] = await here.history();
    expect(asked?.parts).toMatchObject([{ input: { order: 7 } }, { input: { order: 8 } }]);
    const started = (await here.transitions()).filter(({ type }) => type === 'execution.started');
    expect(started[0]?.event).toMatchObject({
      executions: [
        { attempt: 2, upgrade: { toVersion: 2, paramsDigest: paramsDigest({ orderId: 'A-7' }) } },
        { attempt: 1, upgrade: { toVersion: 2, paramsDigest: paramsDigest({ orderId: 'A-8' }) } },
      ],
    });
    expect(JSON.stringify(started)).not.toContain('orderId');
  });

  test('C69 what ran with upgraded params is left alone by the build before, and its next attempt has the same', async () => {
    const { session, next } = await parked();
    const faults = [{ point: 'insideEffect', fault: 'crash' }] as const;
    const { runtime: second, plan } = await openMortal(database(), [next([pay(raised)])], faults);
    void second.recover().catch(() => undefined);
    await plan.struck;
    await database().moveClock(LONG_MS);
    const older = await openRuntime(database(), [next([pay(V1)])]);
    expect(await older.recover()).toEqual([]);
    expect(await older.sessions({ tenantId: 'tenant', stranded: true })).toMatchObject([{ stranded: 'tool' }]);
    await expect((await older.session(session)).resume()).rejects.toMatchObject({ code: 'TOOL_VERSION_UNSUPPORTED' });
    const seen: Seen[] = [];
    const other = versioned(V1).to(V2, ({ order }) => ({ orderId: `B-${order}` }));
    await (await openRuntime(database(), [next([pay(other, seen)])])).recover();
    expect(seen.map(({ params }) => params).sort()).toEqual([{ orderId: 'A-7' }, { orderId: 'A-8' }]);
  });

  test('C69 an upgrade that fails runs nothing: a person is asked, and told why', async () => {
    const { session, next } = await parked();
    const broken = versioned(V1).to(V2, () => {
      throw new Error('no such order');
    });
    const seen: Seen[] = [];
    const agent = next([pay(broken, seen)]);
    const runtime = await openRuntime(database(), [agent]);
    expect(await runtime.recover()).toMatchObject([{ state: 'AWAITING_INPUT' }]);
    const here = await runtime.session(session);
    const { awaiting } = await here.status();
    const problem = { code: 'UPGRADE_FAILED', message: expect.stringContaining('no such order') };
    expect(awaiting).toMatchObject([{ reason: 'unknown', params: { order: 7 }, problem }]);
    // Sent again by a person it comes back to the person, and the sibling is never started meanwhile.
    const again = await here.settle(awaiting[0]!.executionId, { outcome: 'runAgain', by: 'ann' });
    const result = await again.result();
    expect(result).toMatchObject({ state: 'AWAITING_INPUT' });
    expect(result.awaiting.map(({ reason, problem: why }) => [reason, why?.code]).sort()).toEqual([
      ['approval', 'UPGRADE_FAILED'],
      ['unknown', 'UPGRADE_FAILED'],
    ]);
    for (const { executionId } of result.awaiting) {
      await here.settle(executionId, { outcome: 'failed', reason: 'By hand.', by: 'ann' });
    }
    expect(await (await here.resume())!.result()).toMatchObject({ state: 'IDLE', reply: 'all paid' });
    expect(seen).toEqual([]);
    expect(await rowsOf(session)).toMatchObject([{ status: 'FAILED' }, { status: 'FAILED' }]);
  });

  test('C69 a call of a tool that is gone goes to a person, and reads as what it was', async () => {
    const two = eachRun({ toolCalls: [call('note'), call('pay', { order: 7 }), call('note', { n: 2 })] }, 'all done');
    const notes: unknown[] = [];
    const note = looseTool('note', (params) => void notes.push(params));
    const agent = scriptedAgent(two, [pay(V1), note]);
    const faults = [{ point: 'insideEffect', occurrence: 2, fault: 'crash' }] as const;
    const { runtime: mortal, plan } = await openMortal(database(), [agent], faults, { maxParallelTools: 1 });
    const session = await openSession(mortal, agent);
    void session.send('go').catch(() => undefined);
    await plan.struck;
    await database().moveClock(LONG_MS);
    const runtime = await openRuntime(database(), [scriptedAgent(two, [note], agent.name)]);
    expect(await runtime.recover()).toMatchObject([{ state: 'AWAITING_INPUT' }]);
    const here = await runtime.session(session);
    const { awaiting } = await here.status();
    expect(awaiting).toMatchObject([
      { toolName: 'pay', params: { order: 7 }, reason: 'approval', problem: { code: 'TOOL_UNKNOWN' } },
    ]);
    // The lost sibling was under way and is brought to its end; what has not begun waits for the person.
    expect(notes).toEqual([{}]);
    const run = await here.settle(awaiting[0]!.executionId, { outcome: 'succeeded', output: { paid: 7 }, by: 'ann' });
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'all done' });
    expect(notes).toEqual([{}, { n: 2 }]);
    const history = await here.history();
    expect(history.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual([
      'null',
      '{"paid":7}',
      'null',
    ]);
    expect((await here.transitions()).map(({ type }) => type)).toContain('execution.held');
    // A new call of it is answered as failed, and the history before is what it was.
    expect(await (await here.send('again')).result()).toMatchObject({ state: 'IDLE', reply: 'all done' });
    expect((await here.history()).slice(0, history.length)).toEqual(history);
  });

  test('C69 a call that may not be repeated and has no outcome is unknown, with its tool or without', async () => {
    const { session, next } = await parked(
      'nonRepeatable',
      eachRun({ toolCalls: [call('pay', { order: 7 })] }, 'paid'),
    );
    const without = await openRuntime(database(), [next([])]);
    expect(await without.recover()).toMatchObject([{ state: 'AWAITING_INPUT' }]);
    const here = await without.session(session);
    const [asked] = (await here.status()).awaiting;
    const back = await (await here.settle(asked!.executionId, { outcome: 'runAgain', by: 'ann' })).result();
    expect(back).toMatchObject({ awaiting: [{ reason: 'unknown', problem: { code: 'TOOL_UNKNOWN' } }] });
    const seen: Seen[] = [];
    const later = await (await openRuntime(database(), [next([pay(raised, seen, 'nonRepeatable')])])).session(session);
    const runAgain = async () => (await later.settle(asked!.executionId, { outcome: 'runAgain', by: 'bob' })).result();
    // What the upgrade made of the params was seen by nobody yet.
    expect(await runAgain()).toMatchObject({ awaiting: [{ reason: 'unknown', params: { orderId: 'A-7' } }] });
    expect(seen).toEqual([]);
    expect(await runAgain()).toMatchObject({ state: 'IDLE', reply: 'paid' });
    expect(seen).toEqual([{ params: { orderId: 'A-7' }, key: asked!.idempotencyKey, attempt: 2 }]);
  });

  test('C69 a finished call is never validated again: it reads as recorded under any schema', async () => {
    const agent = scriptedAgent(eachRun({ toolCalls: [call('pay', { order: 7 })] }, 'paid'), [pay(V1)]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await (await session.send('go')).result();
    const asked: unknown[] = [];
    const impossible = versioned(V1).to(z.never(), () => {
      throw new Error('never called');
    });
    const script = ({ turns }: { turns: readonly unknown[] }) => {
      asked.push(...turns);
      return 'seen';
    };
    const later = await openRuntime(database(), [scriptedAgent(script, [pay(impossible)], agent.name)]);
    const here = await later.session(session);
    expect(await (await here.send('more')).result()).toMatchObject({ reply: 'seen' });
    expect(JSON.stringify(asked)).toContain('{"order":7}');
    expect((await here.history()).slice(0, 4)).toEqual((await session.history()).slice(0, 4));
    expect(await rowsOf(session)).toMatchObject([{ status: 'SUCCESS', tool_version: 1, upgraded_version: null }]);
  });
});
