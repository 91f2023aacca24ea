import pg from 'pg';
import { expect, test } from 'vitest';
import { postgres } from '../../adapters/databases/postgres.ts';
import { type Agent, isTurnlockError } from '../../index.ts';
import { lockKey } from '../../persistence/keys/lock-key.ts';
import { FaultPlan } from '../../testing/faults/fault-plan.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../support/runtime-script.ts';
import { waitForLockWait } from '../support/wait-for-lock-wait.ts';
import { withClient } from '../support/with-client.ts';

onPostgres((database) => {
  /** A runtime whose pool has one connection, which can be told by its name. */
  async function onOneConnection(agent: Agent, plan?: FaultPlan) {
    const pool = new pg.Pool({ connectionString: database().url, max: 1, application_name: agent.name });
    const runtime = await openRuntime(database(), [agent], {
      adapter: postgres(pool),
      ...(plan ? { environment: plan } : {}),
    });
    atTestEnd(async () => {
      await runtime.close();
      await pool.end();
    });
    return { runtime, pool };
  }

  test.each(['model', 'tool'] as const)(
    'C59 C60 while a %s is slow no connection and no lock is held',
    async (slow) => {
      const { opened: waiting, open: wait } = gate();
      const { opened, open } = gate();
      const hold = async () => {
        wait();
        await opened;
      };
      const script = eachRun({ toolCalls: [call('act')] }, 'done');
      const act = looseTool('act', async () => {
        if (slow === 'tool') await hold();
        return 'x';
      });
      let isFirst = true;
      const agent = scriptedAgent(
        async (request) => {
          if (slow === 'model' && isFirst) {
            isFirst = false;
            await hold();
          }
          return script(request);
        },
        [act],
      );
      const { runtime, pool } = await onOneConnection(agent);
      const session = await openSession(runtime, agent);
      const run = await session.send('go');
      await waiting;
      expect(pool).toMatchObject({ totalCount: 1, idleCount: 1, waitingCount: 0 });
      const backends = await database().query(
        'SELECT state, backend_xid, backend_xmin FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1',
        [agent.name],
      );
      expect(backends).toEqual([{ state: 'idle', backend_xid: null, backend_xmin: null }]);
      const locks = await database().query(
        'SELECT locktype FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE a.application_name = $1',
        [agent.name],
      );
      expect(locks).toEqual([]);
      // Whoever else is connected to this database: no advisory lock of a session, no transaction that is open.
      const [held] = await database().query(
        `SELECT (SELECT count(*)::int FROM pg_locks JOIN pg_database d ON d.oid = database
                  WHERE locktype = 'advisory' AND datname = current_database()) AS locks,
                (SELECT count(*)::int FROM pg_stat_activity
                  WHERE datname = current_database() AND state LIKE 'idle in transaction%') AS open`,
      );
      expect(held).toEqual({ locks: 0, open: 0 });
      // The one connection is free for whoever wants it.
      expect((await session.status()).state).toBe(slow === 'model' ? 'PLANNING' : 'EXECUTING_TOOL');
      await openSession(runtime, agent);
      open();
      expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    },
  );

  test('C62 what waited for the lock reads what was written meanwhile', async () => {
    const agent = scriptedAgent('done');
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const other = await (await openRuntime(database(), [agent])).session(session);
    await withClient(database().url, async (holder) => {
      await holder.query('SELECT pg_advisory_lock($1)', [lockKey(session.sessionId)]);
      const outcomes = [session, other].map((handle) =>
        handle.complete().then(
          () => 'completed',
          (error: unknown) => (isTurnlockError(error, 'EVENT_ILLEGAL') ? error.details.state : error),
        ),
      );
      await waitForLockWait(database().url, { event: 'advisory', count: 2 });
      await holder.query('SELECT pg_advisory_unlock($1)', [lockKey(session.sessionId)]);
      expect((await Promise.all(outcomes)).sort()).toEqual(['COMPLETED', 'completed']);
    });
    expect((await session.transitions()).map(({ type }) => type)).toEqual(['session.completed']);
  });

  test('C62 the same where the database defaults to another isolation level and to read-only', async () => {
    const { url, name } = await freshDatabase();
    await withClient(url, (client) =>
      client.query(`ALTER DATABASE "${name}" SET default_transaction_isolation = 'repeatable read';
        ALTER DATABASE "${name}" SET default_transaction_read_only = on`),
    );
    const agent = scriptedAgent('done');
    const there = { ...database(), url, adapter: () => postgres(url) };
    const session = await openSession(await openRuntime(there, [agent]), agent);
    const others = await Promise.all([1, 2].map(async () => (await openRuntime(there, [agent])).session(session)));
    await withClient(url, async (holder) => {
      await holder.query('SELECT pg_advisory_lock($1)', [lockKey(session.sessionId)]);
      const sent = others.map((handle) => handle.send('hello', { messageId: 'm1' }));
      await waitForLockWait(url, { event: 'advisory', count: 2 });
      await holder.query('SELECT pg_advisory_unlock($1)', [lockKey(session.sessionId)]);
      const runs = await Promise.all(sent);
      expect(runs.map(({ repeated }) => repeated).sort()).toEqual([false, true]);
      expect(new Set(runs.map(({ runId }) => runId)).size).toBe(1);
      await Promise.all(runs.map((run) => run.result()));
    });
    expect(await session.history()).toHaveLength(2);
  });

  test('a takeover does not wait for the lock of a session: who holds it is alive', async () => {
    const agent = scriptedAgent(() => new Promise<string>(() => undefined));
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await session.send('go');
    const second = await openRuntime(database(), [agent]);
    await withClient(database().url, async (holder) => {
      await holder.query(`BEGIN; SELECT pg_advisory_xact_lock('${lockKey(session.sessionId)}')`);
      await database().moveClock(60_000);
      expect(await second.recover()).toEqual([
        { tenantId: 'tenant', sessionId: session.sessionId, skipped: 'LEASE_HELD' },
      ]);
      await holder.query('COMMIT');
    });
  });

  test('C51 run 200 of a session sends as many statements and bytes as run 10', async () => {
    const plan = new FaultPlan();
    const script = eachRun({ toolCalls: [call('act', { n: 1 })] }, 'done');
    const isMeasured = (text: string | undefined) => text === 'measured';
    const agent = scriptedAgent(
      (request) => (isMeasured(request.turns.findLast(({ role }) => role === 'user')?.text) ? script(request) : 'done'),
      [looseTool('act', () => 1)],
    );
    const { runtime, pool } = await onOneConnection(agent, plan);
    const session = await openSession(runtime, agent);
    const cost = async () => {
      const [passages, bytes] = [plan.passages.length, await bytesWritten(pool)];
      await (await session.send('measured')).result();
      return { statements: plan.passages.length - passages, bytes: (await bytesWritten(pool)) - bytes };
    };
    const costs = new Map<number, Awaited<ReturnType<typeof cost>>>();
    for (let run = 1; run <= 200; run += 1) {
      if (run % 10 === 0) costs.set(run, await cost());
      else await (await session.send('go')).result();
    }
    const [tenth, last] = [costs.get(10)!, costs.get(200)!];
    expect(tenth.bytes).toBeGreaterThan(1_000);
    expect(last.statements).toBe(tenth.statements);
    expect(last.bytes / tenth.bytes).toBeLessThan(1.1);
  }, 120_000);
});

async function bytesWritten(pool: pg.Pool): Promise<number> {
  const client = await pool.connect();
  const { stream } = (client as unknown as { connection: { stream: { bytesWritten: number } } }).connection;
  client.release();
  return stream.bytesWritten;
}
