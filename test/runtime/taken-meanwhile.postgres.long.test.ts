import type { Client } from 'pg';
import { expect, test } from 'vitest';
import type { Runtime, Session } from '../../index.ts';
import { FaultPlan } from '../../testing/faults/fault-plan.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession } from '../support/runtime-open.ts';
import { waitForLockWait } from '../support/wait-for-lock-wait.ts';
import { withClient } from '../support/with-client.ts';
import { echoAgent, rowsOf, userTexts } from './inbox-scene.ts';

const LEVELS = ['READ COMMITTED', 'REPEATABLE READ'] as const;
/** The lock at which a function waits between its INSERT and its SELECT. */
const PAUSE = 4_711;

const ENQUEUE = 'SELECT * FROM turnlock.enqueue($1, $2, $3, $4)';
const CREATE = `SELECT * FROM turnlock.create_session('tenant', 'user', $1, 1, 'scripted', 'session', 1, $2, external_id => $3)`;

onPostgres((database) => {
  /** From now on the function waits after its INSERT for as long as somebody holds the lock. */
  async function pause(name: string): Promise<void> {
    const [{ text }] = await database().query(`SELECT pg_get_functiondef($1::regproc) AS text`, [`turnlock.${name}`]);
    const parts = (text as string).split(/(?= is_new := )/);
    expect(parts).toHaveLength(2);
    await database().query(parts.join(` PERFORM pg_advisory_xact_lock_shared(${PAUSE});`));
    atTestEnd(async () => void (await database().query(text)));
  }

  /** Runs `statement` in a transaction of `level`; `between` happens after its INSERT found the row and before its SELECT looks for it. */
  async function interrupted(level: string, statement: string, values: unknown[], between: () => Promise<unknown>) {
    await database().query('SELECT pg_advisory_lock($1)', [PAUSE]);
    return withClient(database().url, async (caller) => {
      await begin(caller, level);
      const asked = caller.query(statement, values);
      asked.catch(() => undefined);
      await waitForLockWait(database().url, { event: 'advisory' });
      await between();
      await database().query('SELECT pg_advisory_unlock($1)', [PAUSE]);
      const { rows } = await asked;
      await caller.query('COMMIT');
      return rows[0];
    });
  }

  /** Under REPEATABLE READ what is true now stays true for the transaction. */
  async function begin(caller: Client, level: string): Promise<void> {
    await caller.query(`BEGIN ISOLATION LEVEL ${level}`);
    await caller.query('SELECT count(*) FROM turnlock.agent_inbox');
  }

  async function scene(): Promise<{ runtime: Runtime; session: Session; agent: string }> {
    const { agent } = echoAgent();
    const runtime = await openRuntime(database(), [agent]);
    return { runtime, session: await openSession(runtime, agent), agent: agent.name };
  }

  test.each(LEVELS)(
    'turnlock.enqueue of a message that is taken in the middle of it is no conflict, in %s',
    async (level) => {
      await pause('enqueue');
      const { runtime, session } = await scene();
      const message = [session.tenantId, session.sessionId, 'm1', 'hello'];
      const [first] = await database().query(ENQUEUE, message);
      const again = await interrupted(level, ENQUEUE, message, () => runtime.recover());
      expect(again.is_new).toBe(level === 'READ COMMITTED');
      await runtime.recover();
      // What was put in again is found to be the same message; where the transaction still sees the first row, that is the answer.
      const repeated = { content: 'hello', rejected_code: 'MESSAGE_REPEATED' };
      expect(await rowsOf(database(), session.sessionId)).toMatchObject(again.is_new ? [repeated] : []);
      expect(again.enqueued_run_id === first.enqueued_run_id).toBe(!again.is_new);
      expect(await userTexts(session)).toEqual(['hello']);
    },
  );

  test.each(LEVELS)(
    'turnlock.create_session where the session is removed in the middle of it is no conflict, in %s',
    async (level) => {
      await pause('create_session');
      const { agent } = await scene();
      const asked = [agent, '{}', `external ${level}`];
      const [first] = await database().query(CREATE, asked);
      const remove = () =>
        database().query('DELETE FROM turnlock.agent_sessions WHERE session_id = $1', [first.created_session_id]);
      const again = await interrupted(level, CREATE, asked, remove);
      expect(again.is_new).toBe(level === 'READ COMMITTED');
      expect(again.created_session_id === first.created_session_id).toBe(!again.is_new);
    },
  );

  test('a transaction that sees one moment enqueues to a session that has gone on since; what came since under its id it may do again', async () => {
    const { session } = await scene();
    await withClient(database().url, async (caller) => {
      await begin(caller, 'REPEATABLE READ');
      await (await session.send('first', { messageId: 'm1' })).result();
      await database().query(ENQUEUE, [session.tenantId, session.sessionId, 'm2', 'second']);
      expect(await session.send('third', { messageId: 'm3', transaction: caller })).toMatchObject({ repeated: false });
      const late = session.send('second', { messageId: 'm2', transaction: caller });
      await expect(late).rejects.toMatchObject({ code: 'DATABASE_TRANSIENT', retryable: true });
      await caller.query('ROLLBACK');
    });
  });

  test('a known message id with other metadata is a conflict, as it is for send', async () => {
    const { session } = await scene();
    const put = (metadata: string) =>
      database().query(`${ENQUEUE.slice(0, -1)}, metadata => $5)`, [
        session.tenantId,
        session.sessionId,
        'm1',
        'hello',
        metadata,
      ]);
    await put('{"order":1}');
    expect(await put('{"order":1.0}')).toMatchObject([{ is_new: false }]);
    await expect(put('{"order":2}')).rejects.toMatchObject({ code: 'TL063' });
  });

  test.each<[string, (runtime: Runtime, session: Session, agent: string, externalId: string) => Promise<Session>]>([
    [
      'createSession',
      (runtime, _, agent, externalId) =>
        runtime.createSession({ agent, tenantId: 'tenant', userId: 'user', externalId }),
    ],
    ['fork', (_, session, __, externalId) => session.fork({ externalId })],
  ])('%s whose external id somebody takes and gives back in the middle of it is no conflict', async (name, make) => {
    let isArmed = false;
    const externalId = `taken by another, ${name}`;
    const { agent } = echoAgent();
    // It looks, inserts, and looks again.
    const before = (occurrence: number, fault: () => Promise<unknown>) =>
      ({ point: 'beforeBegin', occurrence, where: () => isArmed, fault: async () => void (await fault()) }) as const;
    const environment = new FaultPlan([
      before(2, () => database().query(CREATE, [agent.name, '{}', externalId])),
      before(3, () => database().query('DELETE FROM turnlock.agent_sessions WHERE external_id = $1', [externalId])),
    ]);
    const runtime = await openRuntime(database(), [agent], { environment });
    const session = await openSession(runtime, agent);
    await (await session.send('hello')).result();
    isArmed = true;
    const { sessionId } = await make(runtime, session, agent.name, externalId);
    isArmed = false;
    expect(await runtime.session({ tenantId: 'tenant', externalId })).toMatchObject({ sessionId });
  });
});
