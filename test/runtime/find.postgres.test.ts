import { expect, test } from 'vitest';
import { requireApproval } from '../../index.ts';
import { findAcrossTenants } from '../../persistence/find-across-tenants.ts';
import { eventIdFromMessageId } from '../../persistence/keys/event-id-from-message-id.ts';
import { openStore } from '../support/open-store.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { refundAgent } from './approval-scene.ts';

onPostgres((database) => {
  /** Sessions of two tenants that have everything in common but their tenant. */
  async function scene() {
    const { agent } = refundAgent(() => requireApproval(), { n: 1 });
    const runtime = await openRuntime(database(), [agent]);
    const tenants = [`one-${agent.name}`, `two-${agent.name}`] as const;
    const odd = `m/1 "é\u0001\u2028\\ 😀 ${agent.name}`;
    const metadata = { order: 42, lines: [{ sku: agent.name }] };
    const sessions = [];
    for (const tenantId of tenants) {
      const session = await openSession(runtime, agent, { tenantId, externalId: agent.name, metadata });
      const run = await session.send('go', { messageId: odd });
      await run.result();
      const later = await session.send('more', { messageId: `later ${agent.name}` });
      const [asked] = (await session.status()).awaiting;
      sessions.push({ ...session, session, run, later, asked: asked! });
    }
    return { runtime, agent, tenants, odd, metadata, sessions };
  }

  test('sessions of one tenant are found by whatever they have, and never those of another', async () => {
    const { runtime, agent, tenants, odd, metadata, sessions } = await scene();
    const [own] = sessions;
    const { asked, run, later, session } = own!;
    const criteria = [
      { externalId: agent.name },
      { metadata },
      { metadata: { lines: [{ sku: agent.name }] } },
      { executionId: asked.executionId },
      { idempotencyKey: asked.idempotencyKey },
      { runId: run.runId },
      { runId: later.runId },
      { messageId: odd },
      { messageId: `later ${agent.name}` },
      { userId: 'user', agent: agent.name, state: 'AWAITING_INPUT' },
    ] as const;
    for (const criterion of criteria) {
      const found = await runtime.sessions({ tenantId: tenants[0], ...criterion });
      expect(
        found.map(({ sessionId }) => sessionId),
        JSON.stringify(criterion),
      ).toEqual([session.sessionId]);
      const theirs = await runtime.sessions({ tenantId: `${tenants[0]}0`, ...criterion });
      expect(theirs).toEqual([]);
    }
    expect(await runtime.sessions({ tenantId: tenants[0], externalId: agent.name, userId: 'other' })).toEqual([]);
    expect(await runtime.sessions({ tenantId: tenants[0], metadata: { order: '42' } })).toEqual([]);
    for (const wrong of [{ runId: 'x' }, { executionId: '1' }, { messageId: '' }, { metadata: 7 }]) {
      await expect(runtime.sessions({ tenantId: tenants[0], ...(wrong as object) })).rejects.toMatchObject({
        code: 'VALUE_INVALID',
      });
    }
  });

  test('whoever looks across tenants is recorded with what and when, and finds the same', async () => {
    const { agent, tenants, odd, metadata, sessions } = await scene();
    const ids = sessions.map(({ session }) => session.sessionId);
    const store = await openStore(database());
    const both = [...ids].sort();
    const [{ session, asked, run, later }] = sessions as [(typeof sessions)[0]];
    const cases = [
      [{ sessionId: session.sessionId }, [session.sessionId]],
      [{ externalId: agent.name }, both],
      [{ metadata: { lines: metadata.lines } }, both],
      [{ executionId: asked.executionId }, [session.sessionId]],
      [{ idempotencyKey: asked.idempotencyKey }, [session.sessionId]],
      [{ runId: run.runId }, [session.sessionId]],
      [{ runId: later.runId }, [session.sessionId]],
      [{ messageId: odd }, both],
      [{ messageId: `later ${agent.name}` }, both],
    ] as const;
    for (const [criterion, wanted] of cases) {
      const found = await findAcrossTenants(store, criterion as object, 100);
      expect(found.map(({ sessionId }) => sessionId).sort(), JSON.stringify(criterion)).toEqual(wanted);
    }
    const rows = await database().query(
      `SELECT criteria, operator, created_at <= turnlock.turnlock_now() AS is_past FROM turnlock.agent_operator_reads
        WHERE function_name = 'find_sessions' ORDER BY read_id`,
    );
    // A caller's message id may name somebody, and erasing its session would not find it here: what is noted is its event id.
    const noted = cases.map(([criterion]) =>
      'messageId' in criterion ? { messageId: eventIdFromMessageId(criterion.messageId) } : criterion,
    );
    expect(rows.map(({ criteria: { foundIn, ...criteria } }) => [criteria, foundIn])).toEqual(
      cases.map(([, wanted], place) => [noted[place], tenants.filter((_, owner) => wanted.includes(ids[owner]!))]),
    );
    for (const row of rows) expect(row).toMatchObject({ operator: expect.any(String), is_past: true });
    for (const none of [{}, { runId: run.runId, messageId: odd }]) {
      await expect(findAcrossTenants(store, none, 100)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    }
  });

  test('each criterion has its index, in a table full of others', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    await openSession(runtime, agent);
    await database().query('SET enable_seqscan = off');
    const plans = [
      [`SELECT 1 FROM turnlock.agent_sessions s WHERE s.metadata @> '{"a":1}'`, 'idx_sessions_metadata'],
      [
        `SELECT 1 FROM turnlock.agent_transitions t WHERE t.run_id = gen_random_uuid() AND t.event IN ('user.messaged', 'session.retried')`,
        'idx_transitions_run',
      ],
      [
        `SELECT 1 FROM turnlock.agent_transitions t WHERE t.event IN ('user.messaged', 'message.enqueued') AND t.event_id = 'message:x'`,
        'idx_transitions_message',
      ],
    ] as const;
    for (const [statement, index] of plans) {
      const plan = await database().query(`EXPLAIN ${statement}`);
      expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain(index);
    }
    await database().query('RESET enable_seqscan');
  });
});
