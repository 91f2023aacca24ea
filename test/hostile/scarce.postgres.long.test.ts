import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../adapters/cli/rehearse/seeded-random.ts';
import { postgres } from '../../adapters/databases/postgres.ts';
import { allRest, leaveOwed } from '../runtime/worker/owed.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { seed } from '../support/property.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { terminateBackends } from '../support/terminate-backends.ts';
import { waitForLockWait } from '../support/wait-for-lock-wait.ts';
import { withClient } from '../support/with-client.ts';
import { chargingAgent, expectCharged } from './charging.ts';

onPostgres((database) => {
  test('C59 a pool of one connection: a worker of eight sessions, and who sends through it as well', async () => {
    const { agent, charges } = chargingAgent();
    const owed = await leaveOwed(database(), agent, 8);
    const pool = new pg.Pool({ connectionString: database().url, max: 1, application_name: agent.name });
    const runtime = await openRuntime(database(), [agent], { adapter: postgres(pool), limits: { sweepMs: 100 } });
    atTestEnd(async () => {
      await runtime.close();
      await pool.end();
    });
    await runtime.start({ concurrency: 8 });
    const sessions = await Promise.all(Array.from({ length: 8 }, () => openSession(runtime, agent)));
    const runs = await Promise.all(sessions.map((session) => session.send('go', { messageId: 'm1' })));
    const results = await Promise.all(runs.map((run) => run.result()));
    expect(results.every(({ state }) => state === 'IDLE')).toBe(true);
    await allRest(database(), owed);
    expect(pool.totalCount).toBe(1);
    await expectCharged(database(), runtime, charges, sessions);
    expect(charges).toHaveLength(16);
  });

  test('C58 the backends of a worker are ended again and again, wherever they are: nothing lost, nothing twice', async () => {
    const random = seededRandom(seed);
    const { agent, charges } = chargingAgent();
    const owed = await leaveOwed(database(), agent, 8);
    const pool = new pg.Pool({ connectionString: database().url, max: 3, application_name: agent.name });
    const runtime = await openRuntime(database(), [agent], { adapter: postgres(pool), limits: { sweepMs: 50 } });
    atTestEnd(async () => {
      await runtime.close();
      await pool.end();
    });
    await runtime.start({ concurrency: 4 });
    for (let round = 0; round < 12; round += 1) {
      await database().query('SELECT pg_sleep($1)', [random.int(1, 40) / 1_000]);
      await terminateBackends(database(), agent.name);
    }
    await allRest(database(), owed, 'IDLE', { timeoutMs: 25_000 });
    expect(charges.sort()).toEqual(owed.map(({ sessionId }) => sessionId).sort());
    expect((await runtime.sessions({ tenantId: 'tenant', state: 'IDLE' })).length).toBeGreaterThanOrEqual(8);
  });
});

describe.each(['serializable', 'repeatable read'])('where the database, and the role, default to %s', (level) => {
  test('C62 workers, senders and transactions of callers go on as ever, read only or not', async () => {
    const { url, name } = await freshDatabase();
    const role = `turnlock_test_${name.slice(-10)}`;
    await withClient(url, (client) =>
      client.query(`CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD 'x';
        ALTER ROLE ${role} SET default_transaction_isolation = '${level}';
        ALTER ROLE ${role} SET default_transaction_read_only = on;
        ALTER ROLE ${role} SET default_transaction_deferrable = on;
        ALTER DATABASE "${name}" SET default_transaction_isolation = '${level}'`),
    );
    atTestEnd(() => withClient(url, async (client) => void (await client.query(`DROP ROLE ${role}`))));
    const theirs = Object.assign(new URL(url), { username: role, password: 'x' }).href;
    const query = (text: string, values?: unknown[]) =>
      withClient(url, async (client) => (await client.query(text, values)).rows);
    const adapter = () => postgres({ connectionString: theirs, max: 4 });
    const there = { kind: 'postgres', url: theirs, query, adapter } as never;
    const { agent, charges } = chargingAgent();
    const owed = await leaveOwed(there, agent, 2);
    const runtime = await openRuntime(there, [agent], { limits: { sweepMs: 100 } });
    const other = await openRuntime(there, [agent], { limits: { sweepMs: 100 } });
    await Promise.all([runtime.start(), other.start()]);
    const sessions = await Promise.all(Array.from({ length: 2 }, () => openSession(runtime, agent)));
    const runs = await Promise.all(
      sessions.map(async (session, index) => {
        const handle = index % 2 === 0 ? session : await other.session(session);
        return await handle.send('go', { messageId: 'm1' });
      }),
    );
    await Promise.all(runs.map((run) => run.result()));
    await allRest(there, owed);
    await expectCharged(there, runtime, charges, sessions);
    expect(charges).toHaveLength(4);
  });

  test('C62 two that wait for one lock both read what was written meanwhile', async () => {
    const { url, name } = await freshDatabase();
    await withClient(url, (client) =>
      client.query(`ALTER DATABASE "${name}" SET default_transaction_isolation = '${level}'`),
    );
    const agent = scriptedAgent('done');
    const adapter = () => postgres({ connectionString: url, max: 4 });
    const there = { kind: 'postgres', url, adapter } as never;
    const session = await openSession(await openRuntime(there, [agent]), agent);
    const { lockKey } = await import('../../persistence/keys/lock-key.ts');
    await withClient(url, async (holder) => {
      await holder.query('SELECT pg_advisory_lock($1)', [lockKey(session.sessionId)]);
      const sent = ['one', 'two'].map((text) => session.send(text));
      await waitForLockWait(url, { event: 'advisory', count: 1 });
      await holder.query('SELECT pg_advisory_unlock($1)', [lockKey(session.sessionId)]);
      await Promise.all((await Promise.all(sent)).map((run) => run.result()));
    });
    expect((await session.history()).map(({ content }) => content).sort()).toEqual(['done', 'done', 'one', 'two']);
  });
});
