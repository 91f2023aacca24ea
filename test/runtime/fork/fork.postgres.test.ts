import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { seedSession } from '../../../bench/seed-session.ts';
import { defineTool, type Session, systemEnvironment } from '../../../index.ts';
import { turnIdempotencyKey } from '../../../persistence/keys/turn-idempotency-key.ts';
import { FaultPlan } from '../../../testing/faults/fault-plan.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../../support/runtime-script.ts';
import { withClient } from '../../support/with-client.ts';
import { ask } from '../approval-scene.ts';

onPostgres((database) => {
  const shape = async (session: Session) =>
    (await session.history()).map(({ turnIndex, role, content, callOrdinal, createdAt }) => ({
      turnIndex,
      role,
      content,
      callOrdinal,
      createdAt,
    }));
  const executionsOf = ({ sessionId }: { sessionId: string }) =>
    database().query(
      `SELECT e.*, t.turn_index FROM turnlock.agent_tool_executions e JOIN turnlock.agent_turns t USING (turn_id)
        WHERE e.session_id = $1 ORDER BY t.turn_index, e.ordinal`,
      [sessionId],
    );
  const countOf = async (table: string, { sessionId }: { sessionId: string }) =>
    (await database().query(`SELECT FROM turnlock.${table} WHERE session_id = $1`, [sessionId])).length;

  /** An agent whose first message makes two calls, one of them twice, and whose later ones are answered with what it was told. */
  function payingAgent() {
    const acts: unknown[] = [];
    const shown: string[][] = [];
    const pay = looseTool('pay', ({ n }) => ({ paid: acts.push(n) }), { effect: 'nonRepeatable' });
    const script = eachRun({ text: 'paying', toolCalls: [1, 2, 1].map((n) => call('pay', { n })) }, 'paid');
    const agent = scriptedAgent(
      (request) => {
        shown.push(request.turns.map(({ role, text }) => `${role}: ${text}`));
        return request.turns.findLast(({ role }) => role === 'user')?.text === 'pay' ? script(request) : 'heard';
      },
      [pay],
    );
    return { agent, acts, shown };
  }

  test('a fork has the history up to its turn, is IDLE, and goes on by itself; the origin stays as it was', async () => {
    const { agent, acts, shown } = payingAgent();
    const runtime = await openRuntime(database(), [agent]);
    const origin = await openSession(runtime, agent, { externalId: randomUUID(), metadata: { plan: 'gold' } });
    for (const text of ['hello', 'pay', 'thanks']) await (await origin.send(text)).result();
    const before = [await origin.history(), await origin.transitions(), await origin.status()];
    const fork = await origin.fork({ atTurn: 7, by: 'ann' });
    expect(fork.sessionId).not.toBe(origin.sessionId);
    expect(await shape(fork)).toEqual((await shape(origin)).slice(0, 8));
    expect(await fork.status()).toMatchObject({
      state: 'IDLE',
      version: 1,
      runId: null,
      externalId: null,
      metadata: { plan: 'gold' },
      forkedFrom: { sessionId: origin.sessionId, turnIndex: 7 },
    });
    expect(await fork.transitions()).toMatchObject([
      {
        sequence: 1,
        type: 'session.forked',
        from: 'IDLE',
        to: 'IDLE',
        cause: 'operator',
        by: 'ann',
        event: { originSessionId: origin.sessionId, originTurnIndex: 7 },
      },
    ]);
    expect(await (await fork.send('and now?')).result()).toMatchObject({ state: 'IDLE', reply: 'heard' });
    expect(shown.at(-1)).toEqual([
      ...(await shape(origin)).slice(0, 8).map(({ role, content }) => `${role}: ${content}`),
      'user: and now?',
    ]);
    expect(acts).toEqual([1, 2]);
    expect(await fork.verify()).toMatchObject({ findings: [], transitions: 3, folded: 3, skipped: 0 });
    expect([await origin.history(), await origin.transitions(), await origin.status()]).toEqual(before);
    expect(await origin.verify()).toMatchObject({ findings: [] });
  });

  test('copied executions are marked, have keys of their own from the same digests, and take no claim, approval or cost', async () => {
    const twice = looseTool('twice', () => 'ok', { effect: 'idempotent', repeatable: true });
    const asked = looseTool('asked', () => 'ok', { effect: 'nonRepeatable', policy: ask });
    const script = eachRun({ toolCalls: [call('twice'), call('twice'), call('asked'), call('no such')] }, 'done');
    const agent = scriptedAgent(script, [twice, asked]);
    const runtime = await openRuntime(database(), [agent]);
    const origin = await openSession(runtime, agent);
    const { awaiting } = await (await origin.send('go')).result();
    const params = { amended: true };
    await (await origin.approve(awaiting[0]!.executionId, { by: 'ann', params })).result();
    const fork = await origin.fork();
    const [old, copied] = [await executionsOf(origin), await executionsOf(fork)];
    expect(copied).toHaveLength(4);
    for (const [place, row] of copied.entries()) {
      const from = old[place]!;
      for (const column of [
        'tool_name',
        'status',
        'input_parameters',
        'params_digest',
        'output_payload',
        'error_message',
      ])
        expect(row[column], column).toEqual(from[column]);
      expect(row).toMatchObject({ attempt: 0, fencing_token: null, deadline_at: null, claim_digest: null });
      expect(row.metadata).toEqual({ ...from.metadata, copiedFrom: from.execution_id });
      const parts = { turnIndex: row.turn_index, toolName: row.tool_name, digest: row.params_digest };
      const ordinal = row.tool_name === 'twice' ? { ordinal: row.ordinal } : {};
      expect(from.idempotency_key).toBe(turnIdempotencyKey({ ...parts, sessionId: origin.sessionId, ...ordinal }));
      expect(row.idempotency_key).toBe(turnIdempotencyKey({ ...parts, sessionId: fork.sessionId, ...ordinal }));
    }
    const ids = copied.map(({ execution_id: id }) => id);
    const [, assistant, ...tools] = await fork.history();
    expect(tools.slice(0, 4).map(({ executionId }) => executionId)).toEqual(ids);
    expect(new Set(tools.slice(0, 4).map(({ callTurnId }) => callTurnId))).toEqual(new Set([assistant?.turnId]));
    const parts = assistant?.parts as { executionId: string }[];
    expect(parts.map(({ executionId }) => executionId)).toEqual(ids);
    for (const table of ['agent_approvals', 'agent_model_calls', 'agent_inbox', 'agent_tool_evidence'])
      expect([table, await countOf(table, fork)]).toEqual([table, 0]);
    expect(await fork.verify()).toMatchObject({ findings: [] });
  });

  test('a fork of a fork begins with the same history again, and each names where it comes from', async () => {
    const { agent } = payingAgent();
    const runtime = await openRuntime(database(), [agent]);
    const origin = await openSession(runtime, agent, { tenantId: 'forks' });
    await (await origin.send('pay')).result();
    const first = await origin.fork({ atTurn: 4 });
    await (await first.send('more')).result();
    const second = await first.fork();
    expect(await shape(second)).toEqual(await shape(first));
    expect(await (await second.send('pay')).result()).toMatchObject({ reply: 'paid' });
    expect(await second.verify()).toMatchObject({ findings: [], skipped: 0 });
    const listed = async (forkOf: string) =>
      (await runtime.sessions({ tenantId: 'forks', forkOf })).map(({ sessionId, forkedFrom }) => [
        sessionId,
        forkedFrom,
      ]);
    expect(await listed(origin.sessionId)).toEqual([[first.sessionId, { sessionId: origin.sessionId, turnIndex: 4 }]]);
    expect(await listed(first.sessionId)).toEqual([[second.sessionId, { sessionId: first.sessionId, turnIndex: 6 }]]);
    expect((await executionsOf(second))[0].metadata.copiedFrom).toBe((await executionsOf(first))[0].execution_id);
  });

  describe('where a session may be cut', () => {
    test('only where every call has its tool turn: another turn is refused, with the nearest ones', async () => {
      const { agent } = payingAgent();
      const runtime = await openRuntime(database(), [agent]);
      const origin = await openSession(runtime, agent);
      await (await origin.send('pay')).result();
      const refusedAt = async (atTurn?: number) => {
        const error = await origin.fork(atTurn === undefined ? {} : { atTurn }).catch((failed: unknown) => failed);
        return [(error as { code?: string }).code, (error as { details?: { nearest: number[] } }).details?.nearest];
      };
      // 0 user, 1 assistant with three calls, 2 to 4 their tool turns, 5 reply
      for (const legal of [0, 4, 5])
        expect((await (await origin.fork({ atTurn: legal })).history()).length).toBe(legal + 1);
      for (const illegal of [1, 2, 3]) expect(await refusedAt(illegal)).toEqual(['FORK_TURN_INVALID', [0, 4]]);
      expect(await refusedAt(6)).toEqual(['FORK_TURN_INVALID', []]);
      const empty = await openSession(runtime, agent);
      await expect(empty.fork()).rejects.toMatchObject({ code: 'FORK_TURN_INVALID' });
      for (const odd of [{ atTurn: -1 }, { atTurn: 0.5 }, { atTurn: '1' }, { at: 1 }])
        await expect(origin.fork(odd as object)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    });

    test('while the origin is at work its committed prefix is there, and the fork ends before the calls that are open', async () => {
      const begun = gate();
      const opened = gate();
      const tool = looseTool('wait', async () => {
        begun.open();
        await opened.opened;
        return 'ok';
      });
      const agent = scriptedAgent(eachRun({ toolCalls: [call('wait')] }, 'done'), [tool]);
      const runtime = await openRuntime(database(), [agent]);
      const origin = await openSession(runtime, agent);
      const run = await origin.send('go');
      await begun.opened;
      const fork = await origin.fork();
      expect((await fork.history()).map(({ content }) => content)).toEqual(['go']);
      await expect(origin.fork({ atTurn: 1 })).rejects.toMatchObject({ details: { nearest: [0] } });
      opened.open();
      expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
      expect((await (await origin.fork()).history()).length).toBe(4);
      expect(await fork.verify()).toMatchObject({ findings: [] });
    });

    test.each(['FAILED', 'COMPLETED', 'AWAITING_INPUT'])('a session that is %s has forks that go on', async (state) => {
      const pay = looseTool('pay', () => 'ok', { policy: ask });
      const agent = scriptedAgent(
        ({ turns }) => {
          const text = turns.at(-1)?.text;
          if (text === 'FAILED') throw new Error('away');
          return text === 'AWAITING_INPUT' ? { toolCalls: [call('pay')] } : 'done';
        },
        [pay],
      );
      const runtime = await openRuntime(database(), [agent], { limits: { maxModelAttempts: 1 } });
      const origin = await openSession(runtime, agent);
      await (await origin.send('hello')).result();
      if (state === 'COMPLETED') await origin.complete();
      else await (await origin.send(state)).result();
      expect((await origin.status()).state).toBe(state);
      const fork = await origin.fork({ atTurn: 1 });
      expect(await (await fork.send('more')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
      expect(await fork.verify()).toMatchObject({ findings: [] });
    });
  });

  test('a business key within the tenant answers in the fork with what the origin did; one within the session counts anew', async () => {
    const acts: string[] = [];
    const once = (per: 'tenant' | 'session') =>
      defineTool({
        name: per,
        description: 'Acts.',
        inputSchema: z.object({}),
        effect: 'idempotent',
        once: { per, key: () => 'the one' },
        execute: () => acts.push(per),
      });
    const script = eachRun({ toolCalls: [call('tenant'), call('session')] }, 'done');
    const agent = scriptedAgent(script, [once('tenant'), once('session')]);
    const runtime = await openRuntime(database(), [agent]);
    const origin = await openSession(runtime, agent, { tenantId: randomUUID() });
    await (await origin.send('go')).result();
    const fork = await origin.fork();
    await (await fork.send('go')).result();
    expect(acts).toEqual(['tenant', 'session', 'session']);
    const [first] = await executionsOf(origin);
    const answered = (await executionsOf(fork)).filter(({ turn_index: index }) => index > 4);
    expect(answered[0]).toMatchObject({ tool_name: 'tenant', answered_by: first.execution_id, output_payload: 1 });
  });

  test('a repeated external id is the same fork; of another session or turn it is a conflict', async () => {
    const { agent } = payingAgent();
    const runtime = await openRuntime(database(), [agent]);
    const origin = await openSession(runtime, agent);
    await (await origin.send('hello')).result();
    const options = { externalId: randomUUID(), metadata: { of: 'mine' } };
    const forks = await Promise.all([1, 2, 3].map(() => origin.fork(options)));
    expect(new Set(forks.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect((await forks[0]!.status()).metadata).toEqual({ of: 'mine' });
    for (const refused of [() => origin.fork({ ...options, atTurn: 0 }), () => forks[0]!.fork(options)])
      await expect(refused()).rejects.toMatchObject({ code: 'EXTERNAL_ID_CONFLICT' });
  });

  test.each(['beforeCommit', 'commitSent'] as const)(
    'C58 the connection is lost at %s: there is one fork, whole',
    async (point) => {
      const { agent } = payingAgent();
      const tenantId = randomUUID();
      const origin = await openSession(await openRuntime(database(), [agent]), agent, { tenantId });
      await (await origin.send('pay')).result();
      let isArmed = false;
      const plan = new FaultPlan([{ point, fault: 'disconnect', where: () => isArmed }]);
      const unlucky = await openRuntime(database(), [agent], { environment: plan });
      const seen = await unlucky.session(origin);
      isArmed = true;
      const fork = await seen.fork();
      expect(await plan.struck).toMatchObject({ point });
      expect(await unlucky.sessions({ tenantId, forkOf: origin.sessionId })).toMatchObject([
        { sessionId: fork.sessionId },
      ]);
      expect(await fork.verify()).toMatchObject({ findings: [], transitions: 1 });
    },
  );

  test('a fork outlives its origin: the link is gone, the audit still says where it came from', async () => {
    const { agent } = payingAgent();
    const runtime = await openRuntime(database(), [agent]);
    const origin = await openSession(runtime, agent);
    await (await origin.send('pay')).result();
    const fork = await origin.fork();
    await database().query('DELETE FROM turnlock.agent_sessions WHERE session_id = $1', [origin.sessionId]);
    expect((await fork.status()).forkedFrom).toEqual({ sessionId: null, turnIndex: 5 });
    expect(await fork.verify()).toMatchObject({ findings: [], skipped: 0 });
    expect((await fork.transitions())[0]).toMatchObject({ event: { originSessionId: origin.sessionId } });
    expect(await (await fork.send('more')).result()).toMatchObject({ reply: 'heard' });
    await expect(origin.fork()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  test('a fork is erased with its user, its audit still verifies, and what was erased is not forked', async () => {
    const { agent } = payingAgent();
    const runtime = await openRuntime(database(), [agent]);
    const [tenantId, userId] = [randomUUID(), 'ann'];
    const origin = await openSession(runtime, agent, { tenantId, userId, metadata: { name: 'Ann' } });
    await (await origin.send('pay')).result();
    const fork = await origin.fork();
    await runtime.eraseUser({ tenantId, userId, by: 'request 1' });
    for (const session of [origin, fork]) {
      expect((await session.history()).map(({ content }) => content)).toEqual(Array(6).fill(''));
      expect(await session.verify()).toMatchObject({ findings: [], loss: 'erased' });
      await expect(session.fork()).rejects.toMatchObject({ code: 'FORK_TURN_INVALID' });
    }
  });

  test('what was changed in a copied prefix is found', async () => {
    const { agent } = payingAgent();
    const runtime = await openRuntime(database(), [agent]);
    const origin = await openSession(runtime, agent);
    await (await origin.send('pay')).result();
    for (const [text, code] of [
      [`UPDATE turnlock.agent_turns SET content = 'other' WHERE session_id = $1 AND turn_index = 3`, 'TURNS_DIFFER'],
      [`UPDATE turnlock.agent_tool_executions SET output_payload = '9' WHERE session_id = $1`, 'OUTCOMES_DIFFER'],
    ] as const) {
      const fork = await origin.fork();
      await withClient(database().url, async (client) => {
        await client.query("SET session_replication_role = 'replica'");
        await client.query(text, [fork.sessionId]);
      });
      expect((await fork.verify()).findings).toMatchObject([{ code, sequence: 1 }]);
    }
  });

  test('a fork of two thousand turns is as many statements as one of four', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const sizes = [1, 500];
    const statements: number[] = [];
    for (const runs of sizes) {
      const seeded = { tenantId: 'tenant', agentName: agent.name, runs };
      const key = await withClient(database().url, (client) => seedSession(client, seeded));
      const sent: string[] = [];
      const environment = {
        ...systemEnvironment,
        faultPoint: (_: string, { statement }: { statement?: string }) => void (statement && sent.push(statement)),
      };
      const counting = await openRuntime(database(), [agent], { environment });
      const origin = await counting.session(key);
      sent.length = 0;
      const fork = await origin.fork();
      statements.push(sent.length);
      expect(await fork.history()).toHaveLength(4 * runs);
      expect(await fork.verify()).toMatchObject({ findings: [], transitions: 1, folded: 1 });
      expect(await (await (await runtime.session(fork)).send('more')).result()).toMatchObject({ reply: 'done' });
    }
    expect(statements[1]).toBe(statements[0]);
    expect(statements[0]).toBeGreaterThan(5);
    expect(statements[0]).toBeLessThan(16);
  });
});
