import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, test } from 'vitest';
import type { Awaiting } from '../../index.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime } from '../support/runtime-open.ts';
import { waitFor } from '../support/wait-for.ts';
import { waitForLockWait } from '../support/wait-for-lock-wait.ts';
import { withRole } from './as-least-privileged.ts';
import { tenantAgent } from './tenant-world.ts';

onPostgres((database) => {
  const asRole = withRole(database);

  test('C66 one worker, one hook, one channel for all tenants: each model sees its own, each round is its tenant’s, a freeze stops its own', async () => {
    const told: string[] = [];
    const agent = tenantAgent(told);
    const asked: Awaiting[] = [];
    const heard: string[] = [];
    const suffix = randomBytes(3).toString('hex');
    const tenants = ['user/1', 'user/12', '%'].map((name) => `${name}${suffix}`);
    const [frozen] = tenants as [string];
    await database().query(`SELECT turnlock.put_control('freeze', $1, 'once', NULL, NULL, $2)`, [
      frozen,
      `reason of ${frozen} alone`,
    ]);
    const listener = new pg.Client({ connectionString: asRole().url });
    await listener.connect();
    atTestEnd(() => listener.end());
    listener.on('notification', ({ payload = '' }) => heard.push(payload));
    await listener.query('LISTEN turnlock');
    const sender = await openRuntime(asRole(), [agent], { drive: false });
    const worker = await openRuntime(asRole(), [agent], {
      limits: { sweepMs: 50 },
      onAwaiting: (one) => asked.push(one),
    });
    const sessions = await Promise.all(
      tenants.map(async (tenantId) => {
        const session = await sender.createSession({ agent: agent.name, tenantId, userId: 'the same' });
        await session.send(`once order of ${tenantId}`, { messageId: 'the same' });
        return session;
      }),
    );
    await worker.start();
    const states = () => Promise.all(sessions.map(async (session) => (await session.status()).state));
    await waitFor(async () => (await states()).join() === 'AWAITING_INPUT,IDLE,IDLE', {
      for: 'one tenant to wait, and the others to be done',
    });
    await waitFor(() => asked.length > 0, { for: 'the hook' });
    await worker.stop();
    expect(asked.map(({ tenantId, question }) => [tenantId, question])).toEqual([
      [frozen, expect.stringContaining(`reason of ${frozen} alone`)],
    ]);
    for (const text of told) {
      const [tenantId, said = ''] = text.split('\n');
      expect(said === '' || said.includes(`order of ${tenantId}`) || said.includes('frozen')).toBe(true);
      expect(tenants.filter((other) => other !== tenantId && said.split(/ of /).includes(other))).toEqual([]);
    }
    // Whoever may connect may listen: all that is heard are ids of sessions.
    const ids = sessions.map(({ sessionId }) => sessionId);
    expect(heard.length).toBeGreaterThan(0);
    expect(heard.filter((payload) => !ids.includes(payload))).toEqual([]);
  });

  test('who may see the statements of other sessions, or the server’s log of them, sees the contents in them', async () => {
    const agent = tenantAgent();
    const runtime = await openRuntime(asRole(), [agent]);
    const session = await runtime.createSession({ agent: agent.name, tenantId: 'watched', userId: 'user' });
    const holder = new pg.Client({ connectionString: database().url });
    await holder.connect();
    atTestEnd(() => holder.end());
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE turnlock.agent_turns IN SHARE MODE');
    const sent = session.send('hello whoever watches');
    await waitForLockWait(database().url);
    const rows = await database().query(
      `SELECT query FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    );
    await holder.query('ROLLBACK');
    await (await sent).result();
    expect(rows.map(({ query }) => query).join()).toContain('hello whoever watches');
  });
});
