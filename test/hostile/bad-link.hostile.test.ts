import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { seededRandom } from '../../adapters/cli/rehearse/seeded-random.ts';
import { postgres } from '../../adapters/databases/postgres.ts';
import type { Runtime, Session } from '../../index.ts';
import { allRest, leaveOwed } from '../runtime/worker/owed.ts';
import { seed } from '../support/property.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession } from '../support/runtime-open.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { chargingAgent, expectCharged } from './charging.ts';

/** How often every connection is reset. */
const RESETS = 15;

onPostgres(
  (database) => {
    test('C10 C58 connections are reset at random while workers and senders run: nothing lost, nothing twice', async () => {
      const random = seededRandom(seed);
      const { agent, charges } = chargingAgent();
      const proxy = await startTcpProxy(database().url);
      const url = proxy.through(database().url);
      const open = () =>
        openRuntime(database(), [agent], {
          adapter: postgres({ connectionString: url, max: 3 }, { listen: url }),
          limits: { sweepMs: 100 },
        });
      const runtimes: Runtime[] = [await open(), await open(), await open()];
      for (const runtime of runtimes) await runtime.start();
      const sender = await openRuntime(database(), [agent]);
      const owed = await leaveOwed(database(), agent, 4);
      const sessions: Session[] = [];
      for (let reset = 1; reset <= RESETS; reset += 1) {
        const { sessionId } = await openSession(sender, agent);
        const session = await random
          .pick(runtimes)
          .session({ tenantId: 'tenant', sessionId })
          .catch(() => null);
        if (session !== null) {
          sessions.push(session);
          void session.send('go', { messageId: 'm1' }).catch(() => undefined);
        }
        await pause(random.int(5, 100));
        proxy.reset();
      }
      // Whoever sent and was not answered sends again: nobody knows whether the first one arrived.
      for (const { sessionId } of sessions) {
        const session = await sender.session({ tenantId: 'tenant', sessionId });
        const run = await session.send('go', { messageId: 'm1' });
        expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
      }
      await allRest(database(), [...owed, ...sessions], 'IDLE', { timeoutMs: 30_000 });
      expect(sessions.length).toBeGreaterThan(0);
      await expectCharged(database(), sender, charges, sessions);
      expect(charges.length).toBe(sessions.length + owed.length);
      for (const runtime of runtimes) await runtime.close();
    });

    test('C58 a slow link: eight sessions come to rest, whoever drives them', async () => {
      const { agent, charges } = chargingAgent();
      const proxy = await startTcpProxy(database().url);
      const adapter = postgres({ connectionString: proxy.through(database().url), max: 4 });
      const worker = await openRuntime(database(), [agent], { adapter, limits: { sweepMs: 100 } });
      proxy.slowDown(25);
      await worker.start();
      const owed = await leaveOwed(database(), agent, 4);
      const sessions = await Promise.all([1, 2, 3, 4].map(() => openSession(worker, agent)));
      const runs = await Promise.all(sessions.map((session) => session.send('go', { messageId: 'm1' })));
      const results = await Promise.all(runs.map((run) => run.result()));
      expect(results.map(({ state }) => state)).toEqual(['IDLE', 'IDLE', 'IDLE', 'IDLE']);
      await allRest(database(), owed, 'IDLE', { timeoutMs: 30_000 });
      proxy.slowDown(0);
      await expectCharged(database(), worker, charges, sessions);
      expect(charges).toHaveLength(8);
      await worker.close();
    });

    test('C05 a link that is slower than the lease: nobody acts twice, and nothing is stored twice', async () => {
      const { agent, charges } = chargingAgent();
      const proxy = await startTcpProxy(database().url);
      const adapter = postgres({ connectionString: proxy.through(database().url), max: 4 });
      const limits = { leaseMs: 500, sweepMs: 100, toolTimeoutMs: 1_000, maxRecoveries: 1_000 };
      const slow = await openRuntime(database(), [agent], { adapter, limits });
      const other = await openRuntime(database(), [agent], { limits });
      const sessions = await Promise.all([1, 2, 3, 4].map(() => openSession(slow, agent)));
      proxy.slowDown(150);
      await other.start();
      await slow.start();
      await Promise.all(sessions.map((session) => session.send('go', { messageId: 'm1' }).catch(() => undefined)));
      const isAtRest = async () => {
        const rows = await database().query(
          'SELECT current_state AS state FROM turnlock.agent_sessions WHERE session_id = ANY ($1) AND lease_holder IS NULL',
          [sessions.map(({ sessionId }) => sessionId)],
        );
        return rows.filter(({ state }) => state === 'IDLE' || state === 'AWAITING_INPUT').length === sessions.length;
      };
      await waitFor(isAtRest, { for: 'all to rest', timeoutMs: 50_000 });
      proxy.slowDown(0);
      await slow.close();
      expect(new Set(charges).size).toBe(charges.length);
      for (const { sessionId } of sessions) {
        const session = await other.session({ tenantId: 'tenant', sessionId });
        for (const { executionId } of (await session.status()).awaiting) {
          const settlement = charges.includes(sessionId)
            ? ({ outcome: 'succeeded', output: 'charged', by: 'ann' } as const)
            : ({ outcome: 'runAgain', by: 'ann' } as const);
          await (await session.settle(executionId, settlement)).result();
        }
      }
      await expectCharged(database(), other, charges, sessions);
    });
  },
  { toleratesOpenConnections: true },
);
