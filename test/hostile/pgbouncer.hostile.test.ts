import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { postgres } from '../../adapters/databases/postgres.ts';
import type { Limits, Session } from '../../index.ts';
import { killScene, openByExternalId } from '../runtime/kill/kill-scene.ts';
import { allRest, leaveOwed, rowsOf } from '../runtime/worker/owed.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { frontendMessages } from '../support/frontend-messages.ts';
import { type Pgbouncer, startPgbouncer } from '../support/pgbouncer.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { chargingAgent, expectCharged } from './charging.ts';

/** So long that no test sees two looks that nothing but time called for. */
const NEVER: Partial<Limits> = { sweepMs: 3_600_000 };

/** Everything goes through PgBouncer in transaction mode, which has two connections to the server. */
onPostgres(
  (database) => {
    let bouncer: Pgbouncer;
    let url: string;
    beforeAll(async () => {
      bouncer = await startPgbouncer(database().url, 2);
      url = bouncer.through(database().url);
    });

    async function backends(): Promise<{ pid: number; prepared: number }[]> {
      return await database().query(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
          AND application_name NOT LIKE 'turnlock-%'`,
      );
    }

    test('C53 200 messages to 200 sessions at once from four processes: every run comes to rest, over two connections', async () => {
      const { agent, charges } = chargingAgent();
      const adapters = [1, 2, 3, 4].map(() => postgres({ connectionString: url, max: 50 }));
      const runtimes = await Promise.all(
        adapters.map((adapter) => openRuntime(database(), [agent], { adapter, limits: { connectTimeoutMs: 60_000 } })),
      );
      const sessions = await Promise.all(
        Array.from({ length: 200 }, (_, index) => openSession(runtimes[index % 4]!, agent)),
      );
      const runs = await Promise.all(sessions.map((session) => session.send('go', { messageId: 'm1' })));
      const results = await Promise.all(runs.map((run) => run.result()));
      expect(results.filter(({ state, reply }) => state === 'IDLE' && reply === 'done')).toHaveLength(200);
      expect((await backends()).length).toBeLessThanOrEqual(2);
      await expectCharged(database(), runtimes[0]!, charges, sessions);
      await Promise.all(runtimes.map((runtime) => runtime.close()));
    });

    test('C53 C15 many messages to one session at once: every one is in the history once, in one order', async () => {
      const agent = scriptedAgent(({ turns }) => `heard ${turns.at(-1)!.text}`);
      const open = () => openRuntime(database(), [agent], { adapter: postgres({ connectionString: url, max: 20 }) });
      const runtimes = [await open(), await open()];
      const session = await openSession(runtimes[0]!, agent);
      const handles = await Promise.all(runtimes.map((runtime) => runtime.session(session)));
      const texts = Array.from({ length: 40 }, (_, index) => `m${index}`);
      const runs = await Promise.all(texts.map((text, index) => handles[index % 2]!.send(text, { messageId: text })));
      await Promise.all(runs.map((run) => run.result()));
      const history = (await session.history()).map(({ content }) => content);
      const said = history.filter((content) => !content.startsWith('heard'));
      expect([...said].sort()).toEqual([...texts].sort());
      expect(history).toEqual(said.flatMap((text) => [text, `heard ${text}`]));
      await Promise.all(runtimes.map((runtime) => runtime.close()));
    });

    test('C53 a worker without a direct URL finds work by looking', async () => {
      const { agent, charges } = chargingAgent();
      const owed = await leaveOwed(database(), agent, 6);
      const codes: string[] = [];
      const worker = await openRuntime(database(), [agent], {
        adapter: postgres(url),
        limits: { sweepMs: 100 },
        onWarning: ({ code }) => codes.push(code),
      });
      await worker.start();
      await allRest(database(), owed);
      const late = await leaveOwed(database(), agent);
      await allRest(database(), late);
      expect(charges).toHaveLength(7);
      expect(codes.filter((code) => !/^(FSYNC_OFF|RLS_BYPASSED)$/.test(code))).toEqual([]);
      await worker.close();
    });

    test('C53 a worker that listens at the server itself is woken, and works through PgBouncer', async () => {
      const agent = scriptedAgent('done');
      const adapter = postgres(url, { listen: database().url });
      const worker = await openRuntime(database(), [agent], { adapter, limits: NEVER });
      await worker.start();
      await waitFor(
        async () => {
          const rows = await database().query(
            `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'turnlock-listen'
              AND state = 'idle' AND query LIKE '%pg_listening_channels%'`,
          );
          return rows.length === 1;
        },
        { for: 'the connection that listens' },
      );
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      atTestEnd(() => client.end());
      const sender = await openRuntime(database(), [agent], { adapter: postgres(url) });
      const session = await openSession(sender, agent);
      // The caller's own transaction goes through PgBouncer too, and nobody drives the run but the worker that hears of it.
      await client.query('BEGIN');
      await session.send('go', { transaction: client });
      await sender.close();
      await client.query('COMMIT');
      const driven = await worker.session(session);
      await waitFor(async () => (await driven.history()).length === 2, { for: 'the reply' });
      await allRest(database(), [session]);
      expect((await driven.history()).map(({ content }) => content)).toEqual(['go', 'done']);
      await worker.close();
    });

    test('C53 a worker whose listening goes through PgBouncer too is warned, and finds work by looking', async () => {
      const agent = scriptedAgent('done');
      const codes: string[] = [];
      const worker = await openRuntime(database(), [agent], {
        adapter: postgres(url, { listen: url }),
        limits: { sweepMs: 100 },
        onWarning: ({ code }) => codes.push(code),
      });
      await worker.start();
      const heard = () => codes.filter((code) => code.startsWith('LISTEN_'));
      await waitFor(() => heard().length > 0, { for: 'the warning' });
      await allRest(database(), await leaveOwed(database(), agent, 2));
      await worker.close();
      expect(['LISTEN_INDIRECT', 'LISTEN_FAILED']).toContain(heard()[0]);
    });

    test('C53 C02 processes that are killed with SIGKILL: a worker brings what they left to rest, nothing twice', async () => {
      const { kill, resume, acts } = await killScene({ location: { url }, adapter: () => postgres(url) });
      await kill({ sessions: { note: 'note 1', charge: 'charge 2' }, stopAt: 'afterAct' }, 2);
      await kill({ sessions: { record: 'note 3' }, stopAt: 'afterStatement of record' });
      expect(acts()).toHaveLength(3);
      const worker = await resume({ sweepMs: 100 });
      await worker.start();
      const [note, charge, record] = (await Promise.all(
        ['note', 'charge', 'record'].map((externalId) => openByExternalId(worker, externalId)),
      )) as [Session, Session, Session];
      await allRest(database(), [note, record], 'IDLE', { timeoutMs: 30_000 });
      await allRest(database(), [charge], 'AWAITING_INPUT', { timeoutMs: 30_000 });
      expect((await rowsOf(database(), [note, charge, record])).map(({ takeovers }) => takeovers)).toEqual([1, 1, 1]);
      const charges = acts().filter(({ tool }) => tool === 'charge');
      expect(charges).toHaveLength(1);
      expect(new Set(acts().map(({ key }) => key)).size).toBe(3);
    });

    test('C53 C58 connections to the server end under PgBouncer: runs go on, nothing lost, nothing twice', async () => {
      const { agent, charges } = chargingAgent();
      const runtime = await openRuntime(database(), [agent], { adapter: postgres(url) });
      const sessions: Session[] = [];
      for (let round = 0; round < 10; round += 1) {
        const session = await openSession(runtime, agent);
        sessions.push(session);
        const run = await session.send('go', { messageId: 'm1' });
        for (const { pid } of await backends()) await database().query('SELECT pg_terminate_backend($1)', [pid]);
        expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
      }
      await expectCharged(database(), runtime, charges, sessions);
      await runtime.close();
    });

    test('C53 nothing is prepared by name, nothing listens, and nothing outlives its transaction', async () => {
      const sent = new Map<number, Buffer[]>();
      const proxy = await startTcpProxy(
        url,
        (chunk) => chunk,
        (chunk, connection) => void sent.set(connection, [...(sent.get(connection) ?? []), chunk]),
      );
      const { agent } = chargingAgent();
      const runtime = await openRuntime(database(), [agent], { adapter: postgres(proxy.through(url)) });
      await runtime.start();
      const session = await openSession(runtime, agent);
      await (await session.send('go')).result();
      await session.history();
      await runtime.recover();
      await session.complete();
      await runtime.close();
      const messages = [...sent.values()].flatMap((chunks) => frontendMessages(Buffer.concat(chunks)));
      const statements = messages
        .filter(({ type }) => type === 'Q' || type === 'P')
        .map(({ texts }) => texts.join(' '));
      expect(messages.filter(({ type, texts }) => type === 'P' && texts[0] !== '')).toEqual([]);
      expect(statements.some((text) => text.includes('pg_advisory_xact_lock'))).toBe(true);
      const ofTheSession =
        /\b(?:un)?listen\b|pg_advisory_lock|\bprepare\b|\bset (?!local\b)\w+ (?:to|=)|set session|temp(?:orary)? table|with hold/i;
      expect(statements.filter((text) => ofTheSession.test(text.replaceAll(/'[^']*'/g, '')))).toEqual([]);
    });
  },
  { toleratesOpenConnections: true },
);
