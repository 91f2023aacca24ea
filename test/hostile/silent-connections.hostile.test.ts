import pg from 'pg';
import { expect, test } from 'vitest';
import { postgres } from '../../adapters/databases/postgres.ts';
import type { Limits } from '../../index.ts';
import { resolveLimits } from '../../limits.ts';
import { migrate } from '../../persistence/migrate.ts';
import { FaultPlan, type Passage } from '../../testing/faults/fault-plan.ts';
import { connect } from '../adapters/databases/connect.ts';
import { allRest, leaveOwed } from '../runtime/worker/owed.ts';
import { spawnChild } from '../support/child.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession } from '../support/runtime-open.ts';
import { gate } from '../support/runtime-script.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { withClient } from '../support/with-client.ts';
import { chargingAgent, expectCharged } from './charging.ts';

/** An answer is given up after three seconds; the server ends a silent transaction after one. */
const LIMITS: Partial<Limits> = { statementTimeoutMs: 1_000, lockTimeoutMs: 1_000, connectTimeoutMs: 2_000 };

/** Connections that die without a word: what is sent over them arrives nowhere, and nobody is told. */
onPostgres(
  (database) => {
    /** Calls `act` at that point of the n-th commit that writes a transition. */
    function atCommit(nth: number, wanted: Passage['point'], act: () => void): FaultPlan {
      const plan = new FaultPlan();
      const base = plan.faultPoint;
      let commits = 0;
      let isWriting = false;
      let hasActed = false;
      plan.faultPoint = (point, info) => {
        if (point === 'beforeBegin') isWriting = false;
        if (point === 'afterStatement' && info.statement?.startsWith('insert into "turnlock"."agent_transitions"')) {
          commits += 1;
          isWriting = true;
        }
        const isNth = point === 'afterLock' ? commits === nth - 1 : isWriting && commits === nth;
        if (point === wanted && isNth && !hasActed) {
          hasActed = true;
          act();
        }
        return base(point, info);
      };
      return plan;
    }

    const throughProxy = (proxy: TcpProxy) => postgres({ connectionString: proxy.through(database().url), max: 3 });

    test.each([
      ['after the lock', 'afterLock', {}],
      ['between two statements', 'afterStatement', {}],
      ['before COMMIT, which never arrives', 'beforeCommit', {}],
      ['during COMMIT, which is carried out', 'beforeCommit', { answersOnly: true }],
    ] as const)(
      'C58 the connections go silent %s: the run goes on over new ones, nothing lost, nothing twice',
      async (_, point, how) => {
        const reader = await openRuntime(database(), [chargingAgent().agent]);
        const goOn = async (nth: number) => {
          const { agent, charges } = chargingAgent();
          const proxy = await startTcpProxy(database().url);
          let isSilent = false;
          const environment = atCommit(nth, point, () => {
            isSilent = true;
            proxy.freeze({ presentOnly: true, ...how });
          });
          const adapter = throughProxy(proxy);
          const runtime = await openRuntime(database(), [agent], { limits: LIMITS, environment, adapter });
          const session = await openSession(runtime, agent);
          // The first commit is the sender's, who is told of it soon, and sends the same message again.
          const send = () => session.send('go', { messageId: 'm1' });
          const run = await send().catch(send);
          expect(await run.result(), `commit ${nth}`).toMatchObject({ state: 'IDLE', reply: 'done' });
          expect(isSilent).toBe(true);
          await expectCharged(database(), reader, charges, [session]);
          await runtime.close();
        };
        await Promise.all([1, 2, 3, 4].map(goOn));
      },
    );

    test.each(['ours', 'handed in'])(
      'C58 when one connection has died without a word no other of its time is lent again (a pool that is %s)',
      async (whose) => {
        const { agent, charges } = chargingAgent();
        const proxy = await startTcpProxy(database().url);
        const pool = new pg.Pool({ connectionString: proxy.through(database().url), max: 4 });
        const adapter = whose === 'ours' ? throughProxy(proxy) : postgres(pool);
        const runtime = await openRuntime(database(), [agent], { limits: LIMITS, adapter });
        const sessions = await Promise.all([1, 2, 3, 4].map(() => openSession(runtime, agent)));
        proxy.freeze({ presentOnly: true });
        await expect(sessions[0]!.status()).rejects.toMatchObject({ retryable: true });
        for (const session of sessions) {
          expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE' });
        }
        await expectCharged(database(), runtime, charges, sessions);
        await runtime.close();
        await pool.end();
      },
    );

    test('C14 C58 a process that goes silent inside a transaction keeps no session: another worker takes over', async () => {
      const { agent, charges } = chargingAgent();
      const proxy = await startTcpProxy(database().url);
      const lostLimits = { ...LIMITS, leaseMs: 1_000, toolTimeoutMs: 2_000 };
      // Its result is about to be stored: the lock is taken, and from then on nobody hears of this process.
      const environment = atCommit(3, 'afterLock', () => proxy.freeze());
      const adapter = throughProxy(proxy);
      const lost = await openRuntime(database(), [agent], { limits: lostLimits, environment, adapter });
      const session = await openSession(lost, agent);
      const run = await session.send('go');
      const over = run.result().catch(() => undefined);
      await waitFor(() => charges.length === 1, { for: 'the charge' });

      const { agent: same } = chargingAgent(agent.name);
      const worker = await openRuntime(database(), [same], { limits: { ...lostLimits, sweepMs: 100 } });
      await worker.start();
      // A person is asked: nobody knows how the charge ended, until the lost process is back and says so.
      await allRest(database(), [session], 'AWAITING_INPUT', { timeoutMs: 40_000 });
      const { awaiting } = await (await worker.session(session)).status();
      expect(awaiting).toMatchObject([{ toolName: 'charge', reason: 'unknown' }]);
      const settlement = { outcome: 'succeeded', output: 'charged', by: 'ann' } as const;
      await (await (await worker.session(session)).settle(awaiting[0]!.executionId, settlement)).result();
      await allRest(database(), [session]);
      proxy.thaw();
      await over;
      await expectCharged(database(), worker, charges, [session]);
      await lost.close();
    });

    test('C11 C58 a worker whose every connection goes silent finds its work once the link is back', async () => {
      const { agent, charges } = chargingAgent();
      const proxy = await startTcpProxy(database().url);
      const codes: string[] = [];
      const runtime = await openRuntime(database(), [agent], {
        limits: { ...LIMITS, leaseMs: 1_000, sweepMs: 100 },
        adapter: throughProxy(proxy),
        onWarning: ({ code }) => codes.push(code),
      });
      await runtime.start();
      proxy.freeze();
      const owed = await leaveOwed(database(), agent, 3);
      await waitFor(() => codes.includes('SWEEP_FAILED'), { for: 'the warning', timeoutMs: 30_000 });
      proxy.thaw();
      await allRest(database(), owed, 'IDLE', { timeoutMs: 30_000 });
      await runtime.close();
      expect(charges).toHaveLength(3);
    });

    test('a server that accepts and says nothing: nothing waits for ever', async () => {
      const { agent } = chargingAgent();
      const proxy = await startTcpProxy(database().url);
      const open = () => openRuntime(database(), [agent], { limits: LIMITS, adapter: throughProxy(proxy) });
      const runtime = await open();
      const session = await openSession(runtime, agent);
      proxy.freeze();
      await expect(open()).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' });
      await expect(session.send('go')).rejects.toMatchObject({ retryable: true });
      await runtime.close();
    });

    test('C58 the link goes silent while a tool is out and stays so: stop and close come to their end', async () => {
      const { opened: begun, open: begin } = gate();
      const { opened, open } = gate();
      const { agent } = chargingAgent();
      const proxy = await startTcpProxy(database().url);
      const environment = new FaultPlan();
      const base = environment.faultPoint;
      environment.faultPoint = async (point, info) => {
        if (point === 'insideEffect' && info.executionId !== undefined) {
          begin();
          await opened;
        }
        await base(point, info);
      };
      const [owed] = await leaveOwed(database(), agent);
      const limits = { ...LIMITS, leaseMs: 1_000, sweepMs: 100 };
      const runtime = await openRuntime(database(), [agent], { limits, environment, adapter: throughProxy(proxy) });
      await runtime.start();
      await begun;
      proxy.freeze();
      const stopping = runtime.stop();
      open();
      await stopping;
      await runtime.close();
      const [row] = await database().query('SELECT current_state FROM turnlock.agent_sessions WHERE session_id = $1', [
        owed!.sessionId,
      ]);
      expect(row).toEqual({ current_state: 'EXECUTING_TOOL' });
    });

    test('C58 a process that closes while its connections are silent ends by itself', async () => {
      const proxy = await startTcpProxy(database().url);
      const child = spawnChild('test/hostile/silent-exit.child.ts', { args: [proxy.through(database().url)] });
      await child.next('ready');
      proxy.freeze();
      child.send({ type: 'close' });
      await child.next('closed');
      expect(await child.exited).toEqual({ code: 0, signal: null });
    });

    test('a migration may take longer than any time-out', async () => {
      const { url } = await freshDatabase({ state: 'empty' });
      const limits = resolveLimits({ statementTimeoutMs: 100, lockTimeoutMs: 100 });
      const migrating = await connect(postgres(url), { limits });
      await withClient(url, async (other) => {
        await other.query('BEGIN; SELECT pg_advisory_xact_lock(1953854062, 1835624241)');
        const migrated = migrate(migrating);
        await other.query('SELECT pg_sleep(3)');
        await other.query('COMMIT');
        expect((await migrated).applied).toHaveLength(1);
      });
      await migrating.close();
    });
  },
  { toleratesOpenConnections: true },
);
