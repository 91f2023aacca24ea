import { expect, test } from 'vitest';
import { z } from 'zod';
import { askUser, defineTool, requireApproval, type Session, TurnlockError, versioned } from '../../../index.ts';
import { openMortal } from '../../support/runtime-crash.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';
import { refundAgent } from '../approval-scene.ts';
import { agentOf, asking } from '../children/scene.ts';
import { obey } from './obey.ts';

const kindsOf = async (session: Session) => (await session.explain()).waitsFor.map(({ kind }) => kind);
const ask = () => requireApproval({ expiresInMs: 3_600_000, approvers: { users: ['ann'] } });

onPostgres((database) => {
  /** Waits until the session is told to wait for `kind`. */
  const untilWaitsFor = (session: Session, kind: string) =>
    waitFor(async () => (await kindsOf(session)).includes(kind as never), { for: `waiting for ${kind}` });

  const first = async (session: Session) => (await session.explain()).waitsFor[0]!;

  test('a session that owes nothing waits for a message, and says how it stands', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent], { limits: { maxRecoveries: 3 } });
    const session = await openSession(runtime, agent, { externalId: `x-${agent.name}` });
    const told = await session.explain();
    expect(told).toMatchObject({ state: 'IDLE', agent: agent.name, agentVersion: 1, userId: 'user', runId: null });
    expect(told).toMatchObject({ externalId: `x-${agent.name}`, recoveries: { used: 0, bound: 3 }, lease: null });
    expect(told.waitsFor).toMatchObject([{ kind: 'message', commands: [] }]);
    expect(await runtime.explain(session)).toMatchObject({ waitsFor: told.waitsFor });
    await (await session.send('go')).result();
    await session.complete();
    expect(await session.explain()).toMatchObject({ state: 'COMPLETED', waitsFor: [] });
    const stranger = { tenantId: 'other', sessionId: session.sessionId };
    await expect(runtime.explain(stranger)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  test('the model, the tool, and a slot are waited for, with who holds the session', async () => {
    const [model, tool] = [gate(), gate()];
    const slow = looseTool('slow', () => tool.opened, { timeoutMs: 60_000 });
    const script = eachRun({ toolCalls: [call('slow', { n: 1 }), call('slow', { n: 2 })] }, 'done');
    const agent = scriptedAgent(
      async (request) => {
        await model.opened;
        return script(request);
      },
      [slow],
    );
    const runtime = await openRuntime(database(), [agent], { limits: { maxParallelTools: 1 } });
    const session = await openSession(runtime, agent);
    const run = await session.send('go');
    await untilWaitsFor(session, 'model');
    const told = await session.explain();
    expect(told.waitsFor).toMatchObject([{ kind: 'model', attempt: 1, commands: [] }]);
    expect(told.lease).toMatchObject({ isLive: true, holder: expect.any(String) });
    expect(told.now.getTime() - told.lease!.heartbeatAt.getTime()).toBeLessThan(15_000);
    model.open();
    await untilWaitsFor(session, 'tool');
    const { waitsFor, now } = await session.explain();
    expect(waitsFor).toMatchObject([
      { kind: 'tool', toolName: 'slow', attempt: 1, idempotencyKey: expect.any(String) },
      { kind: 'slot', toolName: 'slow' },
    ]);
    expect(waitsFor[0]).toHaveProperty('deadlineAt', expect.any(Date));
    expect((waitsFor[0] as { deadlineAt: Date }).deadlineAt.getTime()).toBeGreaterThan(now.getTime());
    tool.open();
    expect((await run.result()).state).toBe('IDLE');
  });

  test('the next attempts of a model call and of a tool have their times', async () => {
    const failing = scriptedAgent(() => {
      throw new Error('overloaded');
    });
    const hour = { initialMs: 3_600_000, maxMs: 3_600_000, jitter: 0 };
    const charge = looseTool(
      'charge',
      () => {
        throw new Error('bank is closed');
      },
      { retry: { attempts: 2, backoff: hour } },
    );
    const charging = scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge]);
    const limits = { modelBackoffMs: 3_600_000 };
    const runtime = await openRuntime(database(), [failing, charging], { limits });
    const one = await openSession(runtime, failing);
    const other = await openSession(runtime, charging);
    for (const session of [one, other]) void (await session.send('go')).result().catch(() => undefined);
    await untilWaitsFor(one, 'modelRetry');
    await untilWaitsFor(other, 'toolRetry');
    expect(await first(one)).toMatchObject({ attempt: 2, error: 'overloaded', retryAt: expect.any(Date) });
    expect(await first(other)).toMatchObject({ attempt: 2, error: 'bank is closed', retryAt: expect.any(Date) });
    for (const session of [one, other]) await session.cancel();
  });

  test('an approval, a refusal and an unknown outcome are answered by the commands that are told', async () => {
    const { agent, acts } = refundAgent(ask, { n: 1 }, { n: 2 });
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await (await session.send('go')).result();
    const [approval, other] = (await session.explain()).waitsFor;
    expect(approval).toMatchObject({ kind: 'approval', asked: { params: { n: 1 }, approvers: { users: ['ann'] } } });
    expect(approval!.commands.map(([, name]) => name)).toEqual(['approve', 'deny', 'settle', 'settle']);
    await obey(runtime, approval!.commands[0]!);
    expect(await kindsOf(session)).toEqual(['approval']);
    await obey(runtime, other!.commands[1]!);
    expect(await kindsOf(session)).toEqual(['message']);
    expect(acts).toEqual([{ n: 1 }]);
  });

  test('an unknown outcome is told with its reason and with what came too late', async () => {
    const { agent, acts } = refundAgent(() => ({ type: 'allow' }), { n: 1 });
    const { runtime: mortal, plan } = await openMortal(
      database(),
      [agent],
      [{ point: 'insideEffect', occurrence: 2, fault: 'crash' }],
    );
    const session = await openSession(mortal, agent);
    void session.send('go').catch(() => undefined);
    await plan.struck;
    await database().moveClock(LONG_MS);
    const runtime = await openRuntime(database(), [agent]);
    const here = await runtime.session(session);
    expect(await first(here)).toMatchObject({
      kind: 'worker',
      lastHolder: expect.any(String),
      commands: [['turnlock', 'recover']],
    });
    await obey(runtime, (await first(here)).commands[0]!);
    expect(await here.explain()).toMatchObject({ recoveries: { used: 1 }, lease: null });
    const unknown = await first(here);
    expect(unknown).toMatchObject({ kind: 'unknown', reason: 'crash', asked: { attempt: 1, evidence: [] } });
    expect(unknown.commands).toHaveLength(3);
    await obey(runtime, unknown.commands[2]!);
    expect(await kindsOf(here)).toEqual(['message']);
    expect(acts).toEqual([{ n: 1 }]);
  });

  test('a frozen call and one over budget are told with what holds them, and granted', async () => {
    const { agent, acts } = refundAgent(() => ({ type: 'allow' }), { n: 1 });
    const runtime = await openRuntime(database(), [agent]);
    const tenantId = `tenant-${agent.name}`;
    for (const [kind, unit, limit] of [
      ['freeze', null, null],
      ['budget', 'calls', 0],
    ]) {
      await database().query('DELETE FROM turnlock.agent_controls');
      await database().query(
        `INSERT INTO turnlock.agent_controls (kind, tenant_id, tool_name, unit, daily_limit, reason, created_by)
          VALUES ($1, $2, 'refund', $3, $4, 'the bank is down', 'test')`,
        [kind, tenantId, unit, limit],
      );
      const session = await openSession(runtime, agent, { tenantId });
      await (await session.send('go')).result();
      const held = await first(session);
      const controls = [{ kind, toolName: 'refund', reason: 'the bank is down' }];
      expect(held).toMatchObject({ kind: kind === 'freeze' ? 'frozen' : 'overBudget', controls });
      await obey(runtime, held.commands[0]!);
      expect(await kindsOf(session)).toEqual(['message']);
    }
    await database().query('DELETE FROM turnlock.agent_controls');
    expect(acts).toHaveLength(2);
  });

  test('a question of the agent is told with its words, and may be settled', async () => {
    const agent = scriptedAgent(eachRun({ toolCalls: [call('askUser', { question: 'Which order?' })] }, 'done'), [
      askUser(),
    ]);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await (await session.send('go')).result();
    const answer = await first(session);
    expect(answer).toMatchObject({ kind: 'answer', asked: { question: 'Which order?' } });
    await obey(runtime, answer.commands[1]!);
    expect(await kindsOf(session)).toEqual(['message']);
  });

  test('a call whose upgrade fails is told with the problem, and is settled by hand', async () => {
    const pay = (inputSchema: Parameters<typeof defineTool>[0]['inputSchema'], policy = ask) =>
      defineTool({
        name: 'pay',
        description: 'Pays.',
        inputSchema,
        policy,
        effect: 'nonRepeatable',
        execute: () => 'paid',
      });
    const V1 = z.object({ order: z.number() });
    const script = eachRun({ toolCalls: [call('pay', { order: 7 })] }, 'done');
    const agent = scriptedAgent(script, [pay(V1)]);
    const session = await openSession(await openRuntime(database(), [agent], { drive: false }), agent);
    const before = await (await openRuntime(database(), [agent])).session(session);
    await (await before.send('go')).result();
    const broken = versioned(V1).to(z.object({ orderId: z.string() }), () => {
      throw new Error('no such order');
    });
    const later = await openRuntime(database(), [scriptedAgent(script, [pay(broken)], agent.name)]);
    const here = await later.session(session);
    await obey(later, (await first(here)).commands[0]!);
    const stopped = await first(here);
    expect(stopped).toMatchObject({ kind: 'unrunnable', problem: { code: 'UPGRADE_FAILED' } });
    expect(stopped.commands.map(([, name]) => name)).toEqual(['deny', 'settle', 'settle']);
    await obey(later, stopped.commands[1]!);
    expect(await kindsOf(here)).toEqual(['message']);
  });

  test('a child session is told with what it waits for itself', async () => {
    const { agent: child, acts } = refundAgent(ask, { n: 1 });
    const tool = child.asTool({ name: 'helper', description: 'Helps.' });
    const parent = agentOf('parent', asking(call('helper', { message: 'help' })), [tool]);
    const runtime = await openRuntime(database(), [parent]);
    const session = await openSession(runtime, parent);
    const run = await session.send('go');
    await run.result();
    const [waiting] = (await session.explain()).waitsFor;
    expect(waiting).toMatchObject({ kind: 'child', toolName: 'helper', state: 'AWAITING_INPUT' });
    const inner = waiting?.kind === 'child' ? waiting.waitsFor[0]! : null;
    expect(inner).toMatchObject({
      kind: 'approval',
      asked: { sessionId: (waiting as { childSessionId: string }).childSessionId },
    });
    await obey(runtime, inner!.commands[0]!);
    await waitFor(async () => (await kindsOf(session))[0] === 'message', { for: 'the parent to go on' });
    expect(acts).toEqual([{ n: 1 }]);
  });

  test('a worker that is silent is told before its lease ends, and what it held is released', async () => {
    let isDead = false;
    const agent = scriptedAgent(() => (isDead ? 'done' : new Promise<string>(() => undefined)));
    const { runtime: mortal, plan } = await openMortal(
      database(),
      [agent],
      [{ point: 'insideEffect', fault: 'crash' }],
    );
    const session = await openSession(mortal, agent);
    void session.send('go').catch(() => undefined);
    await plan.struck;
    isDead = true;
    await database().moveClock(11_000);
    const runtime = await openRuntime(database(), [agent]);
    const here = await runtime.session(session);
    const lease = await first(here);
    expect(lease).toMatchObject({ kind: 'lease', holder: expect.any(String), heartbeatAt: expect.any(Date) });
    expect(await runtime.recover()).toEqual([]);
    await obey(runtime, lease.commands[0]!);
    expect(await first(here)).toMatchObject({ kind: 'worker', lastHolder: null });
    const released = (await here.transitions()).at(-1);
    expect(released).toMatchObject({ type: 'lease.released', cause: 'operator', event: { by: 'ann' } });
    await obey(runtime, (await first(here)).commands[0]!);
    expect(await kindsOf(here)).toEqual(['message']);
    expect(await here.release()).toBe(false);
  });

  test('what is newer, or of an agent that is not here, is told as such; what cannot be read too', async () => {
    const agent = scriptedAgent('done');
    const newer = { ...agent, version: 2 };
    const runtime = await openRuntime(database(), [newer]);
    const session = await openSession(runtime, newer);
    const older = await openRuntime(database(), [agent]);
    expect((await older.explain(session)).waitsFor).toMatchObject([
      { kind: 'stranded', by: 'agent' },
      { kind: 'message' },
    ]);
    const other = await openRuntime(database(), [scriptedAgent('done')]);
    expect((await other.explain(session)).waitsFor).toMatchObject([{ kind: 'stranded', by: 'unknownAgent' }, {}]);
    await database().query("SET session_replication_role = 'replica'");
    await database().query(`UPDATE turnlock.agent_sessions SET snapshot = '"x"' WHERE session_id = $1`, [
      session.sessionId,
    ]);
    await database().query("SET session_replication_role = 'origin'");
    const told = await runtime.explain(session);
    expect(told.waitsFor).toMatchObject([{ kind: 'quarantined', problem: { code: 'SNAPSHOT_INVALID' } }]);
    await expect(session.status()).rejects.toMatchObject({ code: 'SNAPSHOT_INVALID' });
  });

  test('a session that FAILED is told with the reason and what waits behind it, and is retried', async () => {
    const broken = gate();
    let isBroken = true;
    const agent = scriptedAgent(async () => {
      await broken.opened;
      if (!isBroken) return 'done';
      throw new TurnlockError('MODEL_FAILED', { message: 'key is wrong', retryable: false });
    });
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const run = await session.send('go');
    await session.send('and more');
    broken.open();
    await run.result();
    const failed = await first(session);
    expect(failed).toMatchObject({ kind: 'failed', code: 'MODEL_FAILED', error: 'key is wrong.', messages: 1 });
    isBroken = false;
    await obey(runtime, failed.commands[0]!);
    await untilWaitsFor(session, 'message');
  });
});
