import pg from 'pg';
import { expect, test } from 'vitest';
import { postgres } from '../../adapters/databases/postgres.ts';
import { type Environment, type FaultInfo, type FaultPoint, systemEnvironment } from '../../environment.ts';
import type { Runtime, Session } from '../../index.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';
import { terminateBackends } from '../support/terminate-backends.ts';
import { waitFor } from '../support/wait-for.ts';
import { waitForLockWait } from '../support/wait-for-lock-wait.ts';
import { withClient } from '../support/with-client.ts';
import { checkSession } from './crash-property/facts-of.ts';

/** What a test does at a passage of a fault point of the database; passages are counted from 1 since the last reset. */
type Act = (passage: { point: FaultPoint; info: FaultInfo; count: number }) => Promise<void> | void;

onPostgres((database) => {
  /** A runtime on a pool of its own, with one nonRepeatable tool, and a hook at each of its database's fault points. */
  async function open() {
    const acts: string[] = [];
    const charge = looseTool(
      'charge',
      (_, { sessionId }) => {
        acts.push(sessionId);
        return 'charged';
      },
      { effect: 'nonRepeatable' },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge]);
    const pool = new pg.Pool({ connectionString: database().url, max: 2, application_name: agent.name });
    const hook: { act: Act | null; count: number } = { act: null, count: 0 };
    const environment: Environment = {
      ...systemEnvironment,
      faultPoint: (point, info) => {
        if (hook.act === null || /Effect|Evidence|Heartbeat/.test(point)) return;
        hook.count += 1;
        return hook.act({ point, info, count: hook.count });
      },
    };
    const runtime = await openRuntime(database(), [agent], { environment, adapter: postgres(pool) });
    atTestEnd(async () => {
      await runtime.close();
      await pool.end();
    });
    return { runtime, agent, acts, hook, terminate: () => terminateBackends(database(), agent.name) };
  }

  /** Sends the message and answers whether its run came to rest without help. */
  async function goes(session: Session): Promise<boolean> {
    try {
      return (await (await session.send('go', { messageId: 'm1' })).result()).state === 'IDLE';
    } catch {
      return false;
    }
  }

  /** Whatever happened: the whole story is there, once, and the act happened once. */
  async function check(runtime: Runtime, { sessionId }: Session, acts: readonly string[], where = ''): Promise<void> {
    const session = await runtime.session({ tenantId: 'tenant', sessionId });
    expect(
      (await session.history()).map(({ content }) => content),
      where,
    ).toEqual(['go', '', 'charged', 'done']);
    expect(acts.filter((act) => act === sessionId).length, where).toBe(1);
    await checkSession(database(), session);
  }

  test('C10 C58 the backend ends after each statement of each commit in turn: the run goes on, nothing is lost, nothing twice', async () => {
    const { runtime, agent, acts, hook, terminate } = await open();
    const others = await openRuntime(database(), [agent]);
    hook.act = () => undefined;
    expect(await goes(await openSession(runtime, agent))).toBe(true);
    const passages = hook.count;
    expect(passages).toBeGreaterThan(40);
    for (let place = 1; place <= passages; place += 1) {
      hook.act = null;
      const session = await openSession(runtime, agent);
      hook.count = 0;
      hook.act = async ({ count }) => {
        if (count === place) await terminate();
      };
      expect(await goes(session), `passage ${place} of ${passages}`).toBe(true);
      hook.act = null;
      await check(others, session, acts, `passage ${place} of ${passages}`);
    }
  }, 120_000);

  /** Calls `act` at one point of the n-th commit that writes a transition. */
  function atCommit(nth: number, wanted: FaultPoint, act: () => Promise<void>): Act {
    let commits = 0;
    let writes = false;
    return async ({ point, info }) => {
      if (point === 'beforeBegin') writes = false;
      if (info.statement?.startsWith('insert into "turnlock"."agent_transitions"') && point === 'afterStatement') {
        writes = true;
        commits += 1;
      }
      if (point === wanted && writes && commits === nth) {
        commits += 1_000;
        await act();
      }
    };
  }

  async function countTransitions({ sessionId }: Session): Promise<number> {
    const [row] = await database().query(
      'SELECT count(*)::int AS count FROM turnlock.agent_transitions WHERE session_id = $1',
      [sessionId],
    );
    return row.count;
  }

  const commits = [1, 2, 3, 4];

  test.each(commits)('C58 COMMIT %i of a run happens and its answer is lost: the event id tells', async (nth) => {
    const { runtime, agent, acts, hook } = await open();
    const session = await openSession(runtime, agent);
    let isLost = false;
    hook.act = atCommit(nth, 'commitSent', async () => {
      await waitFor(async () => (await countTransitions(session)) === nth, { for: 'the commit to happen' });
      isLost = true;
      throw new Error('Connection terminated unexpectedly');
    });
    expect(await goes(session)).toBe(true);
    expect(isLost).toBe(true);
    expect(await countTransitions(session)).toBe(4);
    await check(runtime, session, acts);
  });

  test.each(commits)('C58 COMMIT %i of a run does not happen and nothing says so: it is written anew', async (nth) => {
    const { runtime, agent, acts, hook, terminate } = await open();
    const session = await openSession(runtime, agent);
    let left = -1;
    hook.act = atCommit(nth, 'beforeCommit', async () => {
      await terminate();
      left = await countTransitions(session);
    });
    expect(await goes(session)).toBe(true);
    expect(left).toBe(nth - 1);
    expect(await countTransitions(session)).toBe(4);
    await check(runtime, session, acts);
  });

  test('C58 a COMMIT that is still under way when its connection breaks is waited for, not repeated', async () => {
    const { runtime, agent, acts, hook } = await open();
    const session = await openSession(runtime, agent);
    const { url } = database();
    await withClient(url, async (holder) => {
      await holder.query(`CREATE FUNCTION public.wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER wait_at_commit AFTER INSERT ON turnlock.agent_transitions DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW WHEN (NEW.sequence = 2) EXECUTE FUNCTION public.wait_at_commit();
        SELECT pg_advisory_lock(42)`);
      hook.act = atCommit(2, 'commitSent', async () => {
        await waitForLockWait(url, { event: 'advisory' });
        throw new Error('Connection terminated unexpectedly');
      });
      const going = goes(session);
      await waitForLockWait(url, { event: 'advisory', count: 2 });
      expect(await countTransitions(session)).toBe(1);
      await holder.query('SELECT pg_advisory_unlock(42); DROP TRIGGER wait_at_commit ON turnlock.agent_transitions');
      expect(await going).toBe(true);
    });
    expect(await countTransitions(session)).toBe(4);
    await check(runtime, session, acts);
  });

  test('C58 idle connections that the server ends between two runs are replaced', async () => {
    const { runtime, agent, acts, terminate } = await open();
    const session = await openSession(runtime, agent);
    expect(await goes(session)).toBe(true);
    await terminate();
    const next = await (await session.send('again')).result();
    expect(next).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(acts).toHaveLength(2);
  });

  test.each(['afterStatement', 'beforeCommit', 'commitSent', 'afterCommit'] as const)(
    'C22 a connection that is lost at %s of a creation: one session, with or without an external id',
    async (point) => {
      const { runtime, agent, hook } = await open();
      for (const externalId of [undefined, `lost at ${point}`]) {
        let isLost = false;
        let inserts = false;
        hook.act = ({ point: at, info }) => {
          if (info.statement?.startsWith('insert into "turnlock"."agent_sessions"')) inserts = true;
          if (at !== point || !inserts || isLost) return;
          isLost = true;
          throw new Error('Connection terminated unexpectedly');
        };
        const session = await openSession(runtime, agent, externalId === undefined ? {} : { externalId });
        hook.act = null;
        expect(isLost).toBe(true);
        const rows = await database().query(
          'SELECT session_id, version FROM turnlock.agent_sessions WHERE agent_name = $1 AND external_id IS NOT DISTINCT FROM $2',
          [agent.name, externalId ?? null],
        );
        expect(rows).toEqual([{ session_id: session.sessionId, version: 0 }]);
      }
    },
  );
});
