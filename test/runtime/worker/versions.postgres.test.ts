import { expect, test } from 'vitest';
import type { Tool } from '../../../adapters/tools/tool.contract.ts';
import { type Agent, defineAgent, type Session } from '../../../index.ts';
import { commitEvent } from '../../../persistence/commit-event.ts';
import { buildOf } from '../../../runtime/services.ts';
import { FaultPlan } from '../../../testing/faults/fault-plan.ts';
import { openStore } from '../../support/open-store.ts';
import { openMortal } from '../../support/runtime-crash.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';
import { allRest, enqueue, leaveOwed, rowsOf, workUntilQuiet } from './owed.ts';
import { BUSY } from './worker-suite.ts';

/** The same agent as a newer build has it. */
const raised = (agent: Agent, version = 2): Agent => ({ ...agent, version });

const withVersion = (tool: Tool, version: number): Tool => ({ ...tool, version });

/** A deploy: builds of several versions at work on one database. */
onPostgres((database) => {
  const versionsOf = async (...sessions: readonly Session[]) => {
    const rows = await database().query(
      'SELECT session_id, agent_version FROM turnlock.agent_sessions WHERE session_id = ANY ($1)',
      [sessions.map(({ sessionId }) => sessionId)],
    );
    return sessions.map(({ sessionId }) => rows.find((row) => row.session_id === sessionId)?.agent_version);
  };

  test('C12 a worker leaves alone what a newer build has gone on with: it neither spins nor keeps others waiting', async () => {
    const agent = scriptedAgent('done');
    const stranded = await leaveOwed(database(), raised(agent), 3);
    const newerRests = await openSession(await openRuntime(database(), [raised(agent)]), raised(agent));
    await enqueue(database(), newerRests, 'hello');
    const owed = await leaveOwed(database(), agent, 4);
    const looks = new FaultPlan();
    const runtime = await openRuntime(database(), [agent], { limits: BUSY, environment: looks });
    const told = await workUntilQuiet(database(), runtime, owed, looks);
    expect(told.map(({ sessionId, state }) => [sessionId, state]).sort()).toEqual(
      owed.map(({ sessionId }) => [sessionId, 'IDLE']).sort(),
    );
    expect(await rowsOf(database(), stranded)).toEqual(
      stranded.map(() => ({ state: 'PLANNING', holder: null, recoveries: 0, takeovers: 0 })),
    );
    const listed = await runtime.sessions({ tenantId: 'tenant', stranded: true });
    expect(listed.map(({ sessionId, stranded: why, agentVersion }) => [sessionId, why, agentVersion]).sort()).toEqual(
      [...stranded, newerRests].map(({ sessionId }) => [sessionId, 'agent', 2]).sort(),
    );
    const all = await runtime.sessions({ tenantId: 'tenant' });
    expect(all.filter(({ stranded: why }) => why !== null)).toHaveLength(4);

    const newer = await openRuntime(database(), [raised(agent)], { limits: BUSY });
    expect(await newer.sessions({ tenantId: 'tenant', stranded: true })).toEqual([]);
    await newer.start();
    await allRest(database(), [...stranded, newerRests]);
    expect((await newerRests.history()).map(({ content }) => content)).toEqual(['hello', 'done']);
  });

  test('C12 a newer build goes on with an older session, which is of its version from then on', async () => {
    const agent = scriptedAgent('done');
    const [taken] = await leaveOwed(database(), agent, 1);
    const older = await openRuntime(database(), [agent]);
    const begun = await openSession(older, agent);
    expect(await versionsOf(taken!, begun)).toEqual([1, 1]);
    const newer = await openRuntime(database(), [raised(agent, 3)]);
    await newer.recover();
    await (await (await newer.session(begun)).send('go')).result();
    expect(await versionsOf(taken!, begun)).toEqual([3, 3]);
    const calls = await database().query(
      'SELECT session_id, agent_version FROM turnlock.agent_model_calls WHERE session_id = ANY ($1) ORDER BY agent_version',
      [[taken!.sessionId, begun.sessionId]],
    );
    expect(calls.map((row) => row.agent_version)).toEqual([3, 3]);
    // What needs no agent leaves the version alone, and so does a build that begins nothing.
    await begun.cancel();
    await begun.complete();
    expect(await versionsOf(begun)).toEqual([3]);
  });

  test('C12 a runtime that drives refuses what it could not go on with; one that leaves it to workers takes the message', async () => {
    const agent = scriptedAgent('old');
    const newAgent = raised(scriptedAgent('new', [], agent.name));
    const newer = await openRuntime(database(), [newAgent], { limits: BUSY });
    const session = await openSession(newer, newAgent);
    const driving = await (await openRuntime(database(), [agent])).session(session);
    for (const attempt of [() => driving.send('go'), () => driving.retry()]) {
      await expect(attempt()).rejects.toMatchObject({
        code: 'AGENT_VERSION_MISMATCH',
        details: { found: 1, wanted: 2 },
      });
    }
    expect(await driving.history()).toEqual([]);
    const front = await (await openRuntime(database(), [agent], { drive: false })).session(session);
    const run = await front.send('go');
    await newer.start();
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'new' });
  });

  test('C12 what was found is compared again under the lock: a newer build may have had it meanwhile', async () => {
    const store = await openStore(database());
    const agent = scriptedAgent('done');
    const [session] = await leaveOwed(database(), raised(agent), 1);
    const { tenantId, sessionId } = session!;
    const takeOver = (build: ReturnType<typeof buildOf>) =>
      commitEvent(store, {
        tenantId,
        sessionId,
        eventId: store.environment.uuid(),
        cause: 'worker',
        event: { type: 'worker.tookOver', holder: 'old' },
        claim: { type: 'takeOver', holder: 'old', leaseMs: 60_000, build },
      });
    const known = (version: number) => buildOf(new Map([[agent.name, { ...agent, version }]]));
    await expect(takeOver(known(1))).rejects.toMatchObject({ code: 'AGENT_VERSION_MISMATCH' });
    expect(await rowsOf(database(), [session!])).toMatchObject([{ holder: null, takeovers: 0 }]);
    await expect(takeOver(known(3))).resolves.toMatchObject({ session: { agentVersion: 3, leaseHolder: 'old' } });
  });

  test('C12 an open call of a newer version of its tool is for a build that has it', async () => {
    let acts = 0;
    const slow = looseTool('slow', () => {
      acts += 1;
      return 'acted';
    });
    const answers = eachRun({ toolCalls: [call('slow')] }, 'done');
    const oldAgent = scriptedAgent(answers, [slow]);
    const newAgent = scriptedAgent(answers, [withVersion(slow, 2)], oldAgent.name);
    const { runtime: mortal, plan } = await openMortal(
      database(),
      [newAgent],
      [{ point: 'insideEffect', occurrence: 2, fault: 'crash' }],
    );
    const session = await openSession(mortal, newAgent);
    void session.send('go').catch(() => undefined);
    await plan.struck;
    await database().moveClock(LONG_MS);
    const older = await openRuntime(database(), [oldAgent]);
    expect(await older.recover()).toEqual([]);
    expect(await older.sessions({ tenantId: 'tenant', stranded: true })).toMatchObject([
      { sessionId: session.sessionId, stranded: 'tool', agentVersion: 1 },
    ]);
    await expect((await older.session(session)).resume()).rejects.toMatchObject({
      code: 'TOOL_VERSION_UNSUPPORTED',
      details: { tool: 'slow', found: 1, wanted: 2 },
    });
    const newer = await openRuntime(database(), [newAgent]);
    expect(await newer.recover()).toMatchObject([{ sessionId: session.sessionId, state: 'IDLE' }]);
    expect(acts).toBe(1);
  });

  test('C25 a person takes 14 days, and five deploys pass: the session continues, and nothing but the database was needed', async () => {
    const acts: string[] = [];
    const pay = (until: 'never' | 'paid') =>
      looseTool(
        'pay',
        (_, { idempotencyKey }) => {
          acts.push(idempotencyKey);
          return until === 'paid' ? 'paid' : new Promise(() => undefined);
        },
        { effect: 'nonRepeatable' },
      );
    const answers = eachRun({ toolCalls: [call('pay', { order: 7 })] }, 'paid, at last');
    const first = scriptedAgent(answers, [pay('never')]);
    const { runtime: mortal, plan } = await openMortal(
      database(),
      [first],
      [{ point: 'insideEffect', occurrence: 2, fault: 'crash' }],
    );
    const { sessionId } = await openSession(mortal, first, { externalId: 'order 7' });
    const reference = { tenantId: 'tenant', externalId: 'order 7' };
    void (await mortal.session(reference)).send('pay order 7').catch(() => undefined);
    await plan.struck;
    await database().moveClock(LONG_MS);
    const deploy = (version: number) => raised(scriptedAgent(answers, [pay('paid')], first.name), version);
    for (let version = 1; version <= 5; version += 1) {
      const runtime = await openRuntime(database(), [deploy(version)], { limits: BUSY });
      await runtime.start();
      const session = await runtime.session(reference);
      await waitFor(async () => (await session.status()).state === 'AWAITING_INPUT', { for: 'the question' });
      expect(await session.status()).toMatchObject({
        awaiting: [{ toolName: 'pay', params: { order: 7 }, reason: 'unknown' }],
      });
      await runtime.close();
      await database().moveClock(3 * LONG_MS);
    }
    const last = await openRuntime(database(), [deploy(6)], { drive: false });
    const worker = await openRuntime(database(), [deploy(6)], { limits: BUSY });
    await worker.start();
    const session = await last.session(reference);
    const [asked] = (await session.status()).awaiting;
    const run = await session.settle(asked!.executionId, { outcome: 'runAgain', by: 'ann' });
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'paid, at last' });
    expect(acts).toEqual([asked!.idempotencyKey]);
    expect(await versionsOf(session)).toEqual([6]);
    const [audit] = await database().query(
      `SELECT max(t.created_at) - min(t.created_at) >= interval '14 days' AS long, max(recoveries) AS recoveries
        FROM turnlock.agent_transitions t JOIN turnlock.agent_sessions USING (session_id) WHERE t.session_id = $1`,
      [sessionId],
    );
    expect(audit).toEqual({ long: true, recoveries: 1 });
  });

  test('a version that is none, and a flag that is none, are refused', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    await expect(
      runtime.sessions({ tenantId: 'tenant', stranded: 'yes' } as unknown as { tenantId: string }),
    ).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    for (const version of [0, 1.5, 2 ** 31, '2' as unknown as number]) {
      expect(() => defineAgent({ name: 'a', version, model: agent.model, instructions: '' })).toThrow('version');
    }
  });
});
