import { expect, test } from 'vitest';
import type { Limits, Recovery } from '../../../index.ts';
import { FaultPlan, type Passage } from '../../../testing/faults/fault-plan.ts';
import { openMortal } from '../../support/runtime-crash.ts';
import type { RuntimeSuite } from '../../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';
import { allRest, isLook, leaveOwed, rowsOf, workUntilQuiet } from './owed.ts';

/** Bounds under which a worker looks often. */
export const BUSY: Partial<Limits> = { sweepMs: 50 };

/** A worker finds what others left and drives it to rest, whatever it meets. */
export const describeWorker: RuntimeSuite = (database) => {
  test('a worker takes over what is owed, also what comes later, and tells how each came to rest', async () => {
    const agent = scriptedAgent('done');
    const early = await leaveOwed(database(), agent, 2);
    const runtime = await openRuntime(database(), [agent], { limits: BUSY });
    const told: Recovery[] = [];
    await runtime.start({ onSession: (recovery) => void told.push(recovery) });
    await allRest(database(), early);
    const late = await leaveOwed(database(), agent);
    await allRest(database(), late);
    await runtime.stop();
    expect(await rowsOf(database(), early)).toMatchObject([{ takeovers: 1 }, { takeovers: 1 }]);
    expect(told.map(({ sessionId }) => sessionId).sort()).toEqual(
      [...early, ...late].map(({ sessionId }) => sessionId).sort(),
    );
    expect(told.every(({ state, skipped }) => state === 'IDLE' && skipped === undefined)).toBe(true);
  });

  test('a session whose process died is found once its lease has run out, and not before', async () => {
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
    const looks = new FaultPlan();
    const runtime = await openRuntime(database(), [agent], { limits: BUSY, environment: looks });
    await runtime.start();
    await waitFor(() => looks.passages.filter(isLook).length >= 3, { for: 'three looks' });
    expect(await rowsOf(database(), [session])).toMatchObject([{ state: 'PLANNING', takeovers: 0 }]);
    await database().moveClock(LONG_MS);
    await allRest(database(), [session]);
    expect(await rowsOf(database(), [session])).toMatchObject([{ takeovers: 1, recoveries: 1 }]);
  });

  test('a second start is no second worker, other options are refused, and a closed runtime does not start', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent], { limits: { maxWorkerSessions: 3 } });
    for (const options of [{ concurrency: 0 }, { concurrency: 1.5 }, { concurrency: 1001 }, { onSession: 'x' }, 'x']) {
      await expect(runtime.start(options as never), JSON.stringify(options)).rejects.toMatchObject({
        code: 'OPTIONS_INVALID',
      });
    }
    await runtime.start({ concurrency: 2 });
    await runtime.start();
    await runtime.start({ concurrency: 2 });
    await expect(runtime.start({ concurrency: 4 })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await runtime.stop();
    await runtime.start({ concurrency: 4 });
    await runtime.close();
    await expect(runtime.start()).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' });
    await expect(runtime.stop()).resolves.toBeUndefined();
  });

  test('no more sessions are driven side by side than allowed; what send drives does not count', async () => {
    const { opened, open } = gate();
    let asked = 0;
    let most = 0;
    const agent = scriptedAgent(async ({ turns }) => {
      if (turns.at(-1)?.text === 'mine') return 'done';
      asked += 1;
      most = Math.max(most, asked);
      await opened;
      asked -= 1;
      return 'done';
    });
    const owed = await leaveOwed(database(), agent, 5);
    const runtime = await openRuntime(database(), [agent], { limits: { ...BUSY, maxWorkerSessions: 2 } });
    await runtime.start();
    await waitFor(() => asked === 2, { for: 'two sessions to be driven' });
    const run = await (await openSession(runtime, agent)).send('mine');
    expect(await run.result()).toMatchObject({ reply: 'done' });
    open();
    await allRest(database(), owed);
    expect(most).toBe(2);
    expect((await rowsOf(database(), owed)).map(({ takeovers }) => takeovers)).toEqual([1, 1, 1, 1, 1]);
  });

  test('a worker whose database does not answer warns once, tries again, and finds its work once it is back', async () => {
    const agent = scriptedAgent('done');
    const owed = await leaveOwed(database(), agent);
    let failures = 0;
    const base = new FaultPlan();
    const environment = Object.assign(Object.create(base) as FaultPlan, {
      faultPoint: (point: string, { statement }: Passage) => {
        if (point !== 'afterStatement' || !isLook({ statement } as Passage) || failures >= 8) return;
        failures += 1;
        throw new Error('Connection terminated unexpectedly');
      },
    });
    const codes: string[] = [];
    const runtime = await openRuntime(database(), [agent], {
      limits: BUSY,
      environment,
      onWarning: ({ code }) => codes.push(code),
    });
    await runtime.start();
    await allRest(database(), owed);
    expect(failures).toBe(8);
    expect(codes.filter((code) => code === 'SWEEP_FAILED')).toHaveLength(1);
  });

  test('C27 sessions that this build cannot drive are told once, and neither spin nor keep others waiting', async () => {
    const agent = scriptedAgent('done');
    const stuck = await leaveOwed(database(), agent, 2);
    await database().query("SET session_replication_role = 'replica'");
    await database().query(
      `UPDATE turnlock.agent_sessions SET snapshot = '[]', updated_at = '2020-01-01' WHERE session_id = $1`,
      [stuck[0]!.sessionId],
    );
    await database().query(
      `UPDATE turnlock.agent_sessions SET snapshot = '"x"', updated_at = '2020-01-01' WHERE session_id = $1`,
      [stuck[1]!.sessionId],
    );
    await database().query("SET session_replication_role = 'origin'");
    const owed = await leaveOwed(database(), agent, 4);
    const looks = new FaultPlan();
    const runtime = await openRuntime(database(), [agent], { limits: BUSY, environment: looks });
    const told = await workUntilQuiet(database(), runtime, owed, looks);
    const skipped = told.filter((recovery) => recovery.skipped !== undefined);
    expect(skipped.map(({ sessionId, skipped: code }) => [sessionId, code]).sort()).toEqual(
      [
        [stuck[0]!.sessionId, 'SNAPSHOT_INVALID'],
        [stuck[1]!.sessionId, 'SNAPSHOT_INVALID'],
      ].sort(),
    );
    expect(told).toHaveLength(6);
  });

  test('C05 a worker leaves a session alone that its own process drives, also when the lease has run out', async () => {
    const { opened: begun, open: begin } = gate();
    const { opened, open } = gate();
    let acts = 0;
    const slow = looseTool('slow', async () => {
      acts += 1;
      begin();
      await opened;
      return 'x';
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('slow')] }, 'done'), [slow]);
    const looks = new FaultPlan();
    const runtime = await openRuntime(database(), [agent], { limits: BUSY, environment: looks });
    const told: Recovery[] = [];
    await runtime.start({ onSession: (recovery) => void told.push(recovery) });
    const run = await (await openSession(runtime, agent)).send('go');
    await begun;
    await database().moveClock(LONG_MS);
    const before = looks.passages.filter(isLook).length;
    await waitFor(() => looks.passages.filter(isLook).length >= before + 3, { for: 'three looks' });
    open();
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(acts).toBe(1);
    expect(told).toEqual([]);
    expect(await rowsOf(database(), [run])).toMatchObject([{ takeovers: 0 }]);
  });

  test('C19 three workers never drive one session twice', async () => {
    const acts: string[] = [];
    const charge = looseTool('charge', (_, { sessionId }) => void acts.push(sessionId), { effect: 'nonRepeatable' });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge]);
    const owed = await leaveOwed(database(), agent, 8);
    const told: Recovery[] = [];
    for (const _ of [1, 2, 3]) {
      const runtime = await openRuntime(database(), [agent], { limits: BUSY });
      await runtime.start({ onSession: (recovery) => void told.push(recovery) });
    }
    await allRest(database(), owed);
    expect(acts.sort()).toEqual(owed.map(({ sessionId }) => sessionId).sort());
    expect((await rowsOf(database(), owed)).every(({ takeovers }) => takeovers === 1)).toBe(true);
    await waitFor(() => told.length >= 8, { for: 'all to be told' });
    expect(told.every(({ state }) => state === 'IDLE')).toBe(true);
  });

  test('what breaks a drive unforeseen is told, ends nothing, and keeps nobody waiting', async () => {
    const agent = scriptedAgent(eachRun({ toolCalls: [call('act')] }, 'done'), [looseTool('act', () => 'x')]);
    const owed = await leaveOwed(database(), agent, 3);
    const broken: string[] = [];
    const environment = Object.assign(Object.create(new FaultPlan()) as FaultPlan, {
      faultPoint: (point: string, { sessionId, executionId }: Passage) => {
        if (point !== 'beforeEffect' || executionId === undefined || broken.length > 0) return;
        broken.push(sessionId!);
        throw new RangeError('unforeseen');
      },
    });
    const warnings: { code: string; message: string }[] = [];
    const told: Recovery[] = [];
    const runtime = await openRuntime(database(), [agent], {
      limits: BUSY,
      environment,
      onWarning: (warning) => warnings.push(warning),
    });
    await runtime.start({ concurrency: 1, onSession: (recovery) => void told.push(recovery) });
    await waitFor(() => told.length === 3, { for: 'all to be told' });
    expect(told.find(({ sessionId }) => sessionId === broken[0])).toMatchObject({ skipped: 'INVARIANT_BROKEN' });
    expect(warnings.filter(({ code }) => code === 'WORKER_SESSION_FAILED')).toMatchObject([
      { message: expect.stringContaining('unforeseen') },
    ]);
    const others = owed.filter(({ sessionId }) => sessionId !== broken[0]);
    await allRest(database(), others);
    await runtime.stop();
    await database().moveClock(LONG_MS);
    await (await openRuntime(database(), [agent], { limits: BUSY })).start();
    await allRest(database(), owed);
  });

  test('a session that only seems to owe something does not keep others waiting', async () => {
    const agent = scriptedAgent('done');
    const [idle] = await leaveOwed(database(), agent);
    const looks = new FaultPlan();
    const runtime = await openRuntime(database(), [agent], { limits: BUSY, environment: looks });
    await runtime.start({ concurrency: 1 });
    await allRest(database(), [idle!]);
    await database().query(`UPDATE turnlock.agent_sessions SET wake_at = '2020-01-01' WHERE session_id = $1`, [
      idle!.sessionId,
    ]);
    const before = looks.passages.filter(isLook).length;
    await waitFor(() => looks.passages.filter(isLook).length >= before + 5, { for: 'five looks' });
    const owed = await leaveOwed(database(), agent, 3);
    await allRest(database(), [...owed, idle!]);
    expect((await rowsOf(database(), owed)).map(({ takeovers }) => takeovers)).toEqual([1, 1, 1]);
  });
};
