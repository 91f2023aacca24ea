import { expect, test } from 'vitest';
import { type PostgresOptions, postgres } from '../../../adapters/databases/postgres.ts';
import type { Agent, Limits, Runtime } from '../../../index.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { waitFor } from '../../support/wait-for.ts';
import { allRest, answered, enqueue, leaveOwed, rowsOf } from './owed.ts';

/** So long that no test sees two looks that nothing but time called for. */
const NEVER: Partial<Limits> = { sweepMs: 3_600_000 };

onPostgres((database) => {
  /** A worker that listens, and the codes of what it warned of. */
  async function work(agent: Agent, limits: Partial<Limits>, listen: PostgresOptions['listen']) {
    const codes: string[] = [];
    const runtime: Runtime = await openRuntime(database(), [agent], {
      limits,
      adapter: postgres({ connectionString: database().url, max: 4 }, { listen: listen! }),
      onWarning: ({ code }) => codes.push(code),
    });
    atTestEnd(() => runtime.close());
    await runtime.start();
    return { runtime, heard: () => codes.filter((code) => code.startsWith('LISTEN_')) };
  }

  async function listeners(): Promise<number[]> {
    const rows = await database().query(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'turnlock-listen'
        AND state = 'idle' AND query LIKE '%pg_listening_channels%'`,
    );
    return rows.map(({ pid }) => pid);
  }

  /** Resolves with the backend of the one connection that listens, once it does and is none of `before`. */
  async function listening(...before: number[]): Promise<number> {
    return await waitFor(
      async () => {
        const pids = await listeners();
        return pids.length === 1 && !before.includes(pids[0]!) && pids[0];
      },
      { for: 'the connection that listens' },
    );
  }

  const notify = (payload = 'x') => database().query('SELECT pg_notify($1, $2)', ['turnlock', payload]);

  test('a worker that listens looks as soon as it is told, and closes its connection when it stops', async () => {
    const agent = scriptedAgent('done');
    const { runtime, heard } = await work(agent, NEVER, database().url);
    await listening();
    for (const _ of [1, 2]) {
      const owed = await leaveOwed(database(), agent);
      await notify();
      await allRest(database(), owed);
    }
    await runtime.stop();
    await waitFor(async () => (await listeners()).length === 0, { for: 'the connection to close' });
    expect(heard()).toEqual([]);
  });

  test('a message that another program commits by SQL is answered as soon as it is committed', async () => {
    const agent = scriptedAgent('done');
    const { runtime } = await work(agent, NEVER, database().url);
    await listening();
    const session = await openSession(runtime, agent);
    for (const message of ['one', 'two']) {
      await enqueue(database(), session, message);
      await answered(session, message);
    }
    expect(await rowsOf(database(), [session])).toMatchObject([{ takeovers: 0 }]);
  });

  test('C54 the backend that listens is ended: a warning, another connection, and nothing is missed', async () => {
    const agent = scriptedAgent('done');
    const { heard } = await work(agent, NEVER, { connectionString: database().url });
    const first = await listening();
    const missed = await leaveOwed(database(), agent);
    await database().query('SELECT pg_terminate_backend($1)', [first]);
    await listening(first);
    await allRest(database(), missed);
    expect(heard()).toEqual(['LISTEN_FAILED']);
    const owed = await leaveOwed(database(), agent);
    await notify();
    await allRest(database(), owed);
  });

  test('C54 the connection that listens dies without a word: work is found by looking, and it is replaced', async () => {
    const agent = scriptedAgent('done');
    const proxy = await startTcpProxy(database().url);
    const limits = { sweepMs: 100, heartbeatMs: 100, statementTimeoutMs: 1_000, connectTimeoutMs: 1_000 };
    const { runtime, heard } = await work(agent, limits, proxy.through(database().url));
    const first = await listening();
    proxy.freeze();
    const owed = await leaveOwed(database(), agent);
    await allRest(database(), owed);
    await waitFor(() => heard().length > 0, { for: 'the warning' });
    const late = await leaveOwed(database(), agent);
    await allRest(database(), late);
    proxy.thaw();
    await listening(first);
    expect(heard()).toEqual(['LISTEN_FAILED']);
    proxy.freeze();
    await runtime.close(); // and waits for no farewell
  });

  test('nobody answers where it should listen: one warning, and it works by looking', async () => {
    const agent = scriptedAgent('done');
    const owed = await leaveOwed(database(), agent);
    const { runtime, heard } = await work(agent, { sweepMs: 50 }, 'postgres://nobody:secret@127.0.0.1:1/none');
    await allRest(database(), owed);
    await waitFor(() => heard().length > 0, { for: 'the warning' });
    await runtime.stop();
    expect(heard()).toEqual(['LISTEN_FAILED']);
  });

  test('a connection that ends at a pooler is told as such, once', async () => {
    const agent = scriptedAgent('done');
    // A pooler names a process of its own in the message that says which backend one speaks to.
    const proxy = await startTcpProxy(database().url, (chunk) => {
      const at = chunk.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
      if (at >= 0) chunk.writeInt32BE(7, at + 5);
      return chunk;
    });
    const { heard } = await work(agent, NEVER, proxy.through(database().url));
    const first = await listening();
    await waitFor(() => heard().length > 0, { for: 'the warning' });
    await database().query('SELECT pg_terminate_backend($1)', [first]);
    await listening(first);
    expect(heard()).toEqual(['LISTEN_INDIRECT', 'LISTEN_FAILED']);
  });

  test.each([['http://somewhere'], [7], [null]])('listen: %s is refused, and nothing stays open', async (listen) => {
    const adapter = postgres({ connectionString: database().url, max: 1 }, { listen: listen as never });
    await expect(openRuntime(database(), [scriptedAgent('done')], { adapter })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
    });
  });
});
