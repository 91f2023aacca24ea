import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Runtime, ToolError } from '../../../index.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, scriptedAgent } from '../../support/runtime-open.ts';
import { call, gate, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';
import { rowsOf } from '../../tenants/tenant-rows.ts';
import { fillTenant, type Ids, tenantAgent } from '../../tenants/tenant-world.ts';

onPostgres((database) => {
  const unique = (name: string) => `${name}-${randomBytes(4).toString('hex')}`;

  /** Every row of every table, as text: what a dump of the database holds. */
  async function dump(): Promise<string> {
    const tables = await database().query(
      `SELECT relname FROM pg_class WHERE relnamespace = 'turnlock'::regnamespace AND relkind = 'r'`,
    );
    const texts: string[] = [];
    for (const { relname } of tables) {
      const rows = await database().query(`SELECT t::text AS row FROM turnlock.${relname} t`);
      texts.push(...rows.map(({ row }) => `${relname} ${row}`));
    }
    return texts.join('\n');
  }

  /** A user with sessions in every state, and a marker in all that is the user's. */
  async function begin(marker = unique('marker')) {
    const agent = tenantAgent();
    const runtime = await openRuntime(database(), [agent], { limits: { maxModelAttempts: 1 } });
    const tenantId = unique('erased');
    const ids = await fillTenant(runtime, agent, tenantId, marker);
    await plant(runtime, tenantId, ids, marker);
    return { agent, runtime, tenantId, ids, marker };
  }

  /** What this build writes rarely or does not yet: evidence, memories, a key without its session, what operators looked for. */
  async function plant(runtime: Runtime, tenantId: string, ids: Ids, marker: string): Promise<void> {
    const session = await runtime.session({ tenantId, sessionId: ids.sessionId });
    const execution = (await session.history()).find(({ executionId }) => executionId !== null)!;
    await database().query(
      `INSERT INTO turnlock.agent_tool_evidence (tenant_id, session_id, execution_id, attempt, token, outcome, output)
        VALUES ($1, $2, $3, 1, 1, 'succeeded', to_jsonb($4::text))`,
      [tenantId, ids.sessionId, execution.executionId, marker],
    );
    for (const sessionId of [null, ids.sessionId]) {
      await database().query(
        `INSERT INTO turnlock.agent_memories (tenant_id, user_id, kind, content, session_id, created_at, updated_at)
          VALUES ($1, $2, 'fact', $3, $4, now(), now())`,
        [tenantId, ids.userId, marker, sessionId],
      );
    }
    await database().query(
      `INSERT INTO turnlock.agent_idempotency_claims (tenant_id, tool_name, key_digest, state, params_digest, user_id, output_payload, created_at, updated_at)
        VALUES ($1, 'gone', 'k', 'succeeded', 'd', $2, to_jsonb($3::text), now(), now())`,
      [tenantId, ids.userId, marker],
    );
    await database().query('SELECT turnlock.find_sessions(external_id => $1)', [ids.externalId]);
    await database().query('SELECT turnlock.find_sessions(metadata => $1)', [JSON.stringify({ marker })]);
    await database().query('SELECT turnlock.find_sessions(message_id => $1)', [ids.messageId]);
  }

  test('nothing of a user is left anywhere, and what is left says that it was erased', async () => {
    const { agent, runtime, tenantId, ids, marker } = await begin();
    const kept = unique('kept');
    await fillTenant(runtime, agent, tenantId, kept);
    const others = (await rowsOf(database(), tenantId)).split('\n').filter((row) => row.includes(kept));
    expect(await dump()).toContain(marker);
    const asked = { tenantId, userId: ids.userId, by: 'request 1', cancelRuns: true };
    expect(await runtime.eraseUser({ ...asked, dryRun: true })).toMatchObject({
      dryRun: true,
      sessions: 6,
      left: [],
      memories: 0,
    });
    expect(await dump()).toContain(marker);
    // In sessions, and in none: all count.
    const [{ memories }] = (await database().query(
      `SELECT count(*)::int AS memories FROM turnlock.agent_memories
        WHERE tenant_id = $1 AND user_id = $2 HAVING count(session_id) BETWEEN 1 AND count(*) - 1`,
      [tenantId, ids.userId],
    )) as [{ memories: number }];
    expect(await runtime.eraseUser(asked)).toEqual({ dryRun: false, sessions: 6, left: [], memories, claims: 1 });
    const after = await dump();
    expect(after.split('\n').filter((row) => row.includes(marker))).toEqual([]);
    const rows = new Set(after.split('\n').flatMap((row) => row.split(' ').slice(0, 1)));
    expect(rows.size).toBeGreaterThan(8);
    for (const row of others) expect((await rowsOf(database(), tenantId)).split('\n')).toContain(row);
    const session = await runtime.session({ tenantId, sessionId: ids.sessionId });
    expect(await session.status()).toMatchObject({
      state: 'COMPLETED',
      externalId: null,
      metadata: {},
      userId: `erased ${ids.sessionId}`,
    });
    const history = await session.history();
    expect(history.length).toBeGreaterThan(4);
    expect(history.every(({ content, parts }) => content === '' && parts.length === 0)).toBe(true);
    const transitions = await session.transitions();
    expect(transitions.filter(({ event }) => event !== null).map(({ event }) => event)).toEqual([
      { type: 'content.erased', by: 'request 1' },
    ]);
    const { findings, erased, head, loss } = await session.verify();
    expect({ findings, erased, sequence: head.sequence, loss }).toEqual({
      ...{ findings: [], erased: transitions.length - 1, sequence: transitions.length, loss: 'erased' },
    });
    expect(transitions.at(-1)).toMatchObject({ type: 'session.completed', to: 'COMPLETED' });
    await expect(runtime.session({ tenantId, externalId: ids.externalId })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    await expect(session.send('hello')).rejects.toMatchObject({ code: 'SESSION_COMPLETED' });
    // Once more is nothing new.
    const rest = await dump();
    expect(await runtime.eraseUser(asked)).toEqual({ dryRun: false, sessions: 0, left: [], memories: 0, claims: 0 });
    const withoutLooks = (text: string) => text.split('\n').filter((row) => !row.startsWith('agent_operator_reads'));
    expect(withoutLooks(await dump())).toEqual(withoutLooks(rest));
  });

  test('what is under way or waits for a person is left unless runs are to be cancelled, and a key that has succeeded stays used', async () => {
    const { agent, runtime, tenantId, ids, marker } = await begin();
    const asked = { tenantId, userId: ids.userId, by: 'request 2' };
    const first = await runtime.eraseUser(asked);
    expect(first).toMatchObject({ sessions: 4, left: [{ state: 'AWAITING_INPUT' }, { state: 'AWAITING_INPUT' }] });
    expect(await dump()).toContain(marker);
    expect((await runtime.awaiting({ tenantId })).length).toBe(2);
    expect(await runtime.eraseUser({ ...asked, cancelRuns: true })).toMatchObject({ sessions: 2, left: [] });
    expect(await dump()).not.toContain(marker);
    const again = await runtime.createSession({ agent: agent.name, tenantId, userId: 'another' });
    await (await again.send(`once ${ids.order}`)).result();
    const told = (await again.history()).filter(({ role }) => role === 'tool');
    expect(told.map(({ content }) => content)).toEqual([
      'Not run again: a call with the same business key has succeeded before. Its result: null',
    ]);
  });

  test('an erasure that was interrupted goes on with what is left', async () => {
    const { runtime, tenantId, ids, marker } = await begin();
    const asked = { tenantId, userId: ids.userId, by: 'request 3', cancelRuns: true };
    const ended = await runtime.session({ tenantId, sessionId: ids.sessionId });
    await ended.complete({ by: 'x' });
    await database().query('SELECT turnlock.erase_sessions($1, $2, $3)', [tenantId, [ids.sessionId], 'request 3']);
    expect(await dump()).toContain(marker);
    expect(await runtime.eraseUser(asked)).toMatchObject({ sessions: 5, left: [] });
    expect(await dump()).not.toContain(marker);
  });

  test('what a tool says after its session was erased is kept without what it says', async () => {
    const marker = unique('late');
    const { opened, open } = gate<string>();
    const begun = gate();
    const deaf = looseTool('deaf', async () => {
      begun.open();
      return opened;
    });
    const agent = scriptedAgent(
      ({ turns }) => (turns.at(-1)?.role === 'user' ? { toolCalls: [call('deaf')] } : 'done'),
      [deaf],
    );
    const runtime = await openRuntime(database(), [agent], { limits: { heartbeatMs: 50, leaseMs: 1_000 } });
    const tenantId = unique('erased');
    const session = await runtime.createSession({ agent: agent.name, tenantId, userId: marker });
    await session.send(`go ${marker}`);
    await begun.opened;
    expect(await runtime.eraseUser({ tenantId, userId: marker, by: 'x', cancelRuns: true })).toMatchObject({
      sessions: 1,
      left: [],
    });
    open(`said ${marker}`);
    const evidence = await waitFor(
      async () => {
        const rows = await database().query(
          'SELECT outcome, output FROM turnlock.agent_tool_evidence WHERE tenant_id = $1',
          [tenantId],
        );
        return rows.length > 0 && rows;
      },
      { for: 'what the tool said' },
    );
    expect(evidence).toEqual([{ outcome: 'succeeded', output: null }]);
    expect(await dump()).not.toContain(marker);
  });

  test('what tools and providers call their errors and ends goes too', async () => {
    const marker = unique('marker');
    const failing = looseTool('fail', () => {
      throw new ToolError('no', { code: `E_${marker}` });
    });
    const agent = scriptedAgent(
      ({ turns }) =>
        turns.at(-1)?.role === 'user'
          ? { toolCalls: [call('fail')], finishReason: `stop ${marker}` }
          : { text: 'done', finishReason: `stop ${marker}` },
      [failing],
    );
    const runtime = await openRuntime(database(), [agent]);
    const tenantId = unique('erased');
    const session = await runtime.createSession({ agent: agent.name, tenantId, userId: 'user' });
    await (await session.send('go')).result();
    const holding = async () => (await dump()).split('\n').filter((row) => row.includes(marker));
    expect((await holding()).map((row) => row.split(' ')[0])).toEqual(
      expect.arrayContaining(['agent_tool_executions', 'agent_model_calls']),
    );
    await runtime.eraseUser({ tenantId, userId: 'user', by: 'x' });
    expect(await holding()).toEqual([]);
    expect((await session.verify()).findings).toEqual([]);
  });

  test('an erasure in one tenant leaves what operators looked for and found in another', async () => {
    const agent = tenantAgent();
    const runtime = await openRuntime(database(), [agent]);
    const externalId = unique('order');
    const [bank, shop] = [unique('bank'), unique('shop')];
    await runtime.createSession({ agent: agent.name, tenantId: bank, userId: 'user', externalId });
    await database().query('SELECT turnlock.find_sessions(external_id => $1)', [externalId]);
    await runtime.createSession({ agent: agent.name, tenantId: shop, userId: 'user', externalId });
    await runtime.eraseUser({ tenantId: shop, userId: 'user', by: 'x' });
    await database().query('SELECT turnlock.find_sessions(external_id => $1)', [externalId]);
    const looks = async () =>
      (
        await database().query(
          `SELECT criteria FROM turnlock.agent_operator_reads WHERE criteria -> 'foundIn' ? $1 ORDER BY read_id`,
          [bank],
        )
      ).map(({ criteria }) => criteria);
    expect(await looks()).toEqual([
      { externalId, foundIn: [bank] },
      { externalId, foundIn: [bank] },
    ]);
    await runtime.eraseUser({ tenantId: bank, userId: 'user', by: 'x' });
    expect(await looks()).toEqual([
      { erased: true, foundIn: [bank] },
      { erased: true, foundIn: [bank] },
    ]);
  });

  test('forks and children of a user’s sessions go with them, whoever’s they are', async () => {
    const { runtime, tenantId, ids, marker } = await begin();
    const fork = await (await runtime.session({ tenantId, sessionId: ids.sessionId })).fork({ by: marker });
    expect((await fork.history()).map(({ content }) => content).join()).toContain(marker);
    await database().query('SET session_replication_role = replica');
    await database().query(
      `INSERT INTO turnlock.agent_sessions (tenant_id, user_id, active_model_id, agent_name, agent_version, machine_id, machine_version, snapshot,
          current_state, metadata, fork_origin_session_id, fork_origin_turn_index)
        VALUES ($1, 'somebody', 'm', 'a', 1, 'session', 1, '{}', 'COMPLETED', jsonb_build_object('copied', $3::text), $2, 0)`,
      [tenantId, ids.sessionId, marker],
    );
    await database().query('SET session_replication_role = origin');
    expect(await runtime.eraseUser({ tenantId, userId: ids.userId, by: 'x', cancelRuns: true })).toMatchObject({
      sessions: 8,
    });
    expect(await dump()).not.toContain(marker);
  });
});
