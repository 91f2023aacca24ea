import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, test } from 'vitest';
import type { Agent, RetentionPolicy, Runtime, Session } from '../../../index.ts';
import { TENANT_TABLES } from '../../../migrations/initial/policies.sql.ts';
import { lockKey } from '../../../persistence/keys/lock-key.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { LONG_MS, openRuntime } from '../../support/runtime-open.ts';
import { waitForLockWait } from '../../support/wait-for-lock-wait.ts';
import { withRole } from '../../tenants/as-least-privileged.ts';
import { rowsOf } from '../../tenants/tenant-rows.ts';
import { fillTenant, tenantAgent } from '../../tenants/tenant-world.ts';
import { leaveOwed } from '../worker/owed.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const STATES = ['IDLE', 'AWAITING_INPUT', 'FAILED', 'COMPLETED'] as const;
const all = (olderThanMs: number): RetentionPolicy[] => STATES.map((state) => ({ state, olderThanMs }));

onPostgres((database) => {
  const asRole = withRole(database);
  const unique = (name: string) => `${name}-${randomBytes(4).toString('hex')}`;

  /** A runtime as the owner, and a tenant of its own with sessions in every state. */
  async function begin(limits: object = {}) {
    const agent = tenantAgent();
    const runtime = await openRuntime(database(), [agent], { limits: { maxModelAttempts: 1, ...limits } });
    const tenantId = unique('retained');
    return { agent, runtime, tenantId };
  }

  const open = (runtime: Runtime, agent: Agent, tenantId: string) =>
    runtime.createSession({ agent: agent.name, tenantId, userId: 'user' });

  const statesOf = async (tenantId: string) =>
    (
      await database().query(
        'SELECT current_state AS state FROM turnlock.agent_sessions WHERE tenant_id = $1 ORDER BY 1',
        [tenantId],
      )
    ).map(({ state }) => state);

  async function another(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: database().url });
    await client.connect();
    atTestEnd(() => client.end());
    return client;
  }

  test('what is older than its policy goes whole, a dry run says so before, and nothing else changes', async () => {
    const { agent, runtime, tenantId } = await begin();
    const other = unique('kept');
    await fillTenant(runtime, agent, tenantId, 'old');
    await database().moveClock(LONG_MS);
    await fillTenant(runtime, agent, tenantId, 'new');
    await fillTenant(runtime, agent, other, 'other');
    const before = await rowsOf(database(), other);
    const policies = [
      { state: 'COMPLETED', olderThanMs: LONG_MS / 2 },
      { state: 'FAILED', olderThanMs: LONG_MS / 2 },
      { state: 'IDLE', olderThanMs: 100 * DAY_MS },
    ] as const;
    const expected = [
      { tenantId, state: 'COMPLETED', sessions: 1 },
      { tenantId, state: 'FAILED', sessions: 1 },
    ];
    const untouched = await rowsOf(database(), tenantId);
    const dry = await runtime.retain({ tenantId, policies, dryRun: true });
    expect(dry).toEqual({ dryRun: true, sessions: expected, kept: 0, claims: 0, memories: 0, reads: 0 });
    expect(await rowsOf(database(), tenantId)).toBe(untouched);
    expect(await runtime.retain({ tenantId, policies, batchSize: 1 })).toEqual({ ...dry, dryRun: false });
    expect(await runtime.retain({ tenantId, policies })).toMatchObject({ sessions: [], kept: 0 });
    expect(await statesOf(tenantId)).toEqual([
      ...['AWAITING_INPUT', 'AWAITING_INPUT', 'AWAITING_INPUT', 'AWAITING_INPUT', 'COMPLETED', 'FAILED'],
      ...['IDLE', 'IDLE', 'IDLE', 'IDLE'],
    ]);
    expect(await rowsOf(database(), other)).toBe(before);
    // What is left of a removed session is nothing: no row names one that is not there.
    for (const table of TENANT_TABLES.filter(
      (name) => !['agent_idempotency_claims', 'agent_memories'].includes(name),
    )) {
      const orphans = await database().query(
        `SELECT FROM turnlock.${table} t WHERE NOT EXISTS (SELECT FROM turnlock.agent_sessions s WHERE s.session_id = t.session_id)`,
      );
      expect([table, orphans.length]).toEqual([table, 0]);
    }
  });

  test('the policy of a tenant counts before that of all, and without any the runtime’s own count', async () => {
    const { agent, runtime, tenantId } = await begin();
    const strict = unique('strict');
    for (const tenant of [tenantId, strict]) await (await open(runtime, agent, tenant)).complete({ by: 'ann' });
    await expect(runtime.retain()).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    const policies: RetentionPolicy[] = [
      { state: 'COMPLETED', olderThanMs: 0 },
      { state: 'COMPLETED', olderThanMs: DAY_MS, tenantId: strict },
    ];
    await database().moveClock(1_000);
    const found = await runtime.retain({ policies, dryRun: true });
    expect(found.sessions.filter((line) => [tenantId, strict].includes(line.tenantId))).toEqual([
      { tenantId, state: 'COMPLETED', sessions: 1 },
    ]);
    await runtime.retain({ tenantId: strict, policies });
    expect(await statesOf(strict)).toEqual(['COMPLETED']);
    await runtime.retain({ tenantId, policies });
    expect(await statesOf(tenantId)).toEqual([]);
  });

  test('never what is at work, owes work, is held by somebody, or whose family is at work', async () => {
    const { agent, runtime, tenantId } = await begin();
    const [held, asked, family, child] = await Promise.all([1, 2, 3, 4].map(() => open(runtime, agent, tenantId)));
    const move = (session: Session | undefined, columns: string) =>
      database().query(`UPDATE turnlock.agent_sessions SET ${columns} WHERE session_id = $1`, [session!.sessionId]);
    await database().query(`SELECT turnlock.enqueue($1, $2, 'm', 'hello')`, [tenantId, asked!.sessionId]);
    await database().query('SET session_replication_role = replica');
    await move(family, `current_state = 'EXECUTING_TOOL'`);
    await move(child, `parent_session_id = '${family!.sessionId}'`);
    await database().query('SET session_replication_role = origin');
    await database().moveClock(LONG_MS);
    await move(held, `lease_holder = 'somebody', lease_expires_at = turnlock.turnlock_now() + interval '1 day'`);
    const others = await another();
    await others.query('BEGIN');
    const busy = await open(runtime, agent, tenantId);
    await database().moveClock(LONG_MS / 2);
    await others.query('SELECT pg_advisory_xact_lock($1)', [lockKey(busy.sessionId)]);
    const result = await runtime.retain({ tenantId, policies: all(0) });
    expect(result).toMatchObject({ sessions: [], kept: 1 });
    expect(await statesOf(tenantId)).toHaveLength(5);
    await others.query('ROLLBACK');
    expect(await runtime.retain({ tenantId, policies: all(0) })).toMatchObject({
      kept: 0,
      sessions: [{ sessions: 1 }],
    });
    await database().query(
      `UPDATE turnlock.agent_sessions SET lease_holder = NULL, lease_expires_at = NULL WHERE tenant_id = $1`,
      [tenantId],
    );
  });

  test('a parent that goes leaves its child, which forgets it; a call that its key answered keeps its answer', async () => {
    const { agent, runtime, tenantId } = await begin();
    const parent = await open(runtime, agent, tenantId);
    await (await parent.send('child hello')).result();
    await (await parent.send('once order')).result();
    const [child] = await database().query(
      'SELECT session_id AS id FROM turnlock.agent_sessions WHERE parent_session_id = $1',
      [parent.sessionId],
    );
    await parent.complete({ by: 'ann' });
    await database().moveClock(LONG_MS);
    const policies = [{ state: 'COMPLETED', olderThanMs: 0 }] as const;
    await runtime.retain({ tenantId, policies });
    await expect(parent.status()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    const left = await runtime.session({ tenantId, sessionId: child.id });
    expect(await left.status()).toMatchObject({ state: 'IDLE', parent: null });
    const asker = await open(runtime, agent, tenantId);
    await (await asker.send('once order')).result();
    expect((await asker.history()).map(({ content }) => content).join()).toContain('Its result: done once for order');
    // The key outlives its session by a time of its own.
    await database().moveClock(2 * DAY_MS);
    await asker.complete({ by: 'ann' });
    await database().moveClock(2 * DAY_MS);
    expect(await runtime.retain({ tenantId, policies, claimsOlderThanMs: 10 * DAY_MS })).toMatchObject({ claims: 0 });
    const options = { tenantId, policies, claimsOlderThanMs: DAY_MS };
    expect(await runtime.retain({ ...options, dryRun: true })).toMatchObject({ claims: 1 });
    expect(await runtime.retain(options)).toMatchObject({ claims: 1 });
    expect(
      await database().query('SELECT FROM turnlock.agent_idempotency_claims WHERE tenant_id = $1', [tenantId]),
    ).toEqual([]);
  });

  test('a message that comes in the same moment is first, or finds no session: never something between', async () => {
    const { agent, runtime, tenantId } = await begin();
    const sessions = await Promise.all(Array.from({ length: 24 }, () => open(runtime, agent, tenantId)));
    await database().moveClock(LONG_MS);
    const told = sessions.map(async (session) => {
      try {
        return (await (await session.send('hello')).result()).state;
      } catch (error) {
        return (error as { code: string }).code;
      }
    });
    const removed: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const { sessions: lines } = await runtime.retain({ tenantId, policies: all(DAY_MS / 24), batchSize: 3 });
      removed.push(...lines.map((line) => String(line.sessions)));
    }
    const outcomes = await Promise.all(told);
    expect(
      [...new Set(outcomes)].every((outcome) => ['IDLE', 'SESSION_NOT_FOUND'].includes(outcome)),
      outcomes.join(),
    ).toBe(true);
    const gone = outcomes.filter((outcome) => outcome === 'SESSION_NOT_FOUND').length;
    expect(removed.reduce((sum, count) => sum + Number(count), 0)).toBe(gone);
    expect(await statesOf(tenantId)).toHaveLength(sessions.length - gone);
  });

  test('a message from SQL that is not committed yet keeps its session; one that comes during a removal is told that there is none', async () => {
    const { agent, runtime, tenantId } = await begin();
    const session = await open(runtime, agent, tenantId);
    await database().moveClock(LONG_MS);
    const [sender, remover] = [await another(), await another()];
    const enqueue = (client: pg.Client) =>
      client.query(`SELECT turnlock.enqueue($1, $2, 'm', 'hello')`, [tenantId, session.sessionId]);
    await sender.query('BEGIN');
    await enqueue(sender);
    expect(await runtime.retain({ tenantId, policies: all(0) })).toMatchObject({ kept: 1, sessions: [] });
    await sender.query('ROLLBACK');
    await remover.query('BEGIN');
    await remover.query('SELECT turnlock.remove_sessions($1, $2)', [[session.sessionId], JSON.stringify(all(0))]);
    const late = enqueue(sender);
    const refused = expect(late).rejects.toMatchObject({ code: 'TL061' });
    await waitForLockWait(database().url);
    await remover.query('COMMIT');
    await refused;
    // A handle from before, and the message id of a message from before, find nothing either: a new session is another one.
    await expect(session.send('hello', { messageId: 'm' })).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  test('a removal under way keeps nobody waiting but whoever wants what it removes, and takes no more than a batch', async () => {
    const { agent, runtime, tenantId } = await begin();
    const sessions = await Promise.all(Array.from({ length: 5 }, () => open(runtime, agent, tenantId)));
    const [gone, ...others] = sessions as [Session, ...Session[]];
    await database().moveClock(LONG_MS);
    const remover = await another();
    await remover.query('BEGIN');
    await remover.query('SELECT turnlock.remove_sessions($1, $2)', [[gone.sessionId], JSON.stringify(all(0))]);
    for (const session of others) expect(await (await session.send('hello')).result()).toMatchObject({ state: 'IDLE' });
    const begun = await open(runtime, agent, tenantId);
    expect(await (await begun.send('hello')).result()).toMatchObject({ state: 'IDLE' });
    await remover.query('COMMIT');
    await database().moveClock(LONG_MS);
    expect(await runtime.retain({ tenantId, policies: all(0), batchSize: 2 })).toMatchObject({ kept: 0 });
    const noted = await database().query(
      `SELECT criteria FROM turnlock.agent_operator_reads WHERE function_name = 'remove_sessions' ORDER BY read_id DESC LIMIT 4`,
    );
    expect(noted.map(({ criteria }) => criteria.sessionIds.length)).toEqual([1, 2, 2, 1]);
  });

  test('a removal that dies in the middle leaves its sessions whole', async () => {
    const { agent, runtime, tenantId } = await begin();
    await fillTenant(runtime, agent, tenantId, 'whole');
    await database().moveClock(LONG_MS);
    const before = await rowsOf(database(), tenantId);
    const ids = await database().query(
      'SELECT array_agg(session_id) AS ids FROM turnlock.agent_sessions WHERE tenant_id = $1',
      [tenantId],
    );
    const [remover, holder] = [await another(), await another()];
    // A claim that somebody has locked stops the removal in its midst, for less than the second that it waits.
    await holder.query('BEGIN');
    await holder.query('SELECT FROM turnlock.agent_idempotency_claims WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
    const { rows } = await remover.query('SELECT pg_backend_pid() AS pid');
    remover.on('error', () => undefined);
    const died = expect(
      remover.query('SELECT turnlock.remove_sessions($1, $2)', [ids[0].ids, JSON.stringify(all(0))]),
    ).rejects.toThrow();
    await waitForLockWait(database().url);
    await database().query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    await died;
    await holder.query('ROLLBACK');
    expect(await rowsOf(database(), tenantId)).toBe(before);
    expect((await runtime.retain({ tenantId, policies: all(0) })).sessions.length).toBeGreaterThan(0);
  });

  test('only who may operate may remove: the service’s role is refused, and nothing is gone', async () => {
    const { agent, tenantId } = await begin();
    const runtime = await openRuntime(asRole(), [agent]);
    await open(runtime, agent, tenantId);
    await database().moveClock(LONG_MS);
    await expect(runtime.retain({ policies: all(0) })).rejects.toMatchObject({ code: 'PRIVILEGE_MISSING' });
    await expect(runtime.eraseUser({ tenantId, userId: 'user', by: 'x' })).rejects.toMatchObject({
      code: 'PRIVILEGE_MISSING',
    });
    expect(await statesOf(tenantId)).toEqual(['IDLE']);
  });

  test('what operators did is kept for ever, or for the time that is asked for: never less than 30 days', async () => {
    const { runtime } = await begin();
    const reads = async () =>
      (await database().query('SELECT function_name AS name FROM turnlock.agent_operator_reads ORDER BY read_id')).map(
        ({ name }) => name,
      );
    await database().query('DELETE FROM turnlock.agent_operator_reads');
    await database().query('SELECT turnlock.list_controls() FROM generate_series(1, 1500)');
    await database().moveClock(30 * DAY_MS - LONG_MS);
    await database().query('SELECT turnlock.list_controls()');
    const policies = [{ state: 'COMPLETED', olderThanMs: 100 * 366 * DAY_MS }] as const;
    const options = { policies, readsOlderThanMs: 30 * DAY_MS };
    expect(await runtime.retain({ ...options, dryRun: true })).toMatchObject({ reads: 0 });
    // Whoever asks the database itself gets no further.
    expect(await database().query('SELECT turnlock.remove_operator_reads(0) AS gone')).toEqual([{ gone: 0 }]);
    await database().moveClock(LONG_MS);
    expect(await runtime.retain({ policies })).toMatchObject({ reads: 0 });
    expect(await runtime.retain({ ...options, dryRun: true })).toMatchObject({ reads: 1500 });
    expect(await runtime.retain(options)).toMatchObject({ reads: 1500 });
    expect((await reads()).filter((name) => name !== 'list_removable')).toEqual([
      ...['list_controls', 'remove_operator_reads', 'remove_operator_reads'],
    ]);
  });

  test('memories that expired or were superseded go once they are old enough, and others stay', async () => {
    const { runtime } = await begin();
    const memory = runtime.memory({ tenantId: 'forgetful', userId: 'ana' });
    const [{ now }] = await database().query('SELECT turnlock.turnlock_now() AS now');
    const { memoryId } = await memory.remember({ kind: 'fact', content: 'superseded' });
    await memory.remember({ kind: 'fact', content: 'counts', supersedes: [memoryId] });
    await memory.remember({ kind: 'fact', content: 'expires', expiresAt: new Date(now.getTime() + 60_000) });
    const options = { tenantId: 'forgetful', policies: all(LONG_MS), memoriesOlderThanMs: DAY_MS };
    await database().moveClock(DAY_MS / 2);
    expect(await runtime.retain(options)).toMatchObject({ memories: 0 });
    await database().moveClock(DAY_MS);
    expect(await runtime.retain({ ...options, tenantId: 'another' })).toMatchObject({ memories: 0 });
    expect(await runtime.retain({ ...options, memoriesOlderThanMs: undefined! })).toMatchObject({ memories: 0 });
    expect(await runtime.retain({ ...options, dryRun: true })).toMatchObject({ memories: 2 });
    expect(await runtime.retain(options)).toMatchObject({ memories: 2 });
    expect((await memory.list({ includeSuperseded: true })).map(({ content }) => content)).toEqual(['counts']);
  });

  test('work that is owed is not removed, however old', async () => {
    const { agent, runtime } = await begin();
    const [session] = await leaveOwed(database(), agent);
    await database().moveClock(LONG_MS);
    await runtime.retain({ tenantId: 'tenant', policies: all(0) });
    expect((await session!.tenantId) && (await runtime.session(session!)).sessionId).toBe(session!.sessionId);
  });

  test.each([
    [{ policies: [] }, 'OPTIONS_INVALID'],
    [{ policies: [{ state: 'PLANNING', olderThanMs: 1 }] }, 'OPTIONS_INVALID'],
    [{ policies: [{ state: 'IDLE', olderThanMs: -1 }] }, 'OPTIONS_INVALID'],
    [{ policies: [...all(0), { state: 'IDLE', olderThanMs: 1 }] }, 'OPTIONS_INVALID'],
    [{ policies: [{ state: 'IDLE', olderThanMs: 1, tenantId: '' }] }, 'VALUE_INVALID'],
    [{ policies: all(0), batchSize: 0 }, 'OPTIONS_INVALID'],
    [{ policies: all(0), dryRun: 'yes' }, 'OPTIONS_INVALID'],
    [{ policies: all(0), claimsOlderThanMs: 0.5 }, 'OPTIONS_INVALID'],
    [{ policies: all(0), memoriesOlderThanMs: -1 }, 'OPTIONS_INVALID'],
    [{ policies: all(0), readsOlderThanMs: 30 * DAY_MS - 1 }, 'OPTIONS_INVALID'],
    [{ policies: all(0), readsOlderThanMs: 30 * DAY_MS, tenantId: 'tenant' }, 'OPTIONS_INVALID'],
    [{ polices: all(0) }, 'OPTIONS_INVALID'],
  ])('%j is refused', async (options, code) => {
    const { runtime } = await begin();
    await expect(runtime.retain(options as never)).rejects.toMatchObject({ code });
  });
});
