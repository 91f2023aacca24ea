import { beforeAll, describe, expect, test } from 'vitest';
import { seedSession } from '../../../bench/seed-session.ts';
import type { Runtime, Session } from '../../../index.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { withClient } from '../../support/with-client.ts';
import { onceInAWhile } from './busy-agent.ts';

onPostgres((database) => {
  /** Writes past every guard, as the owner of the tables who covers up something, or a broken restore. */
  async function tamper(text: string, sessionId: string): Promise<void> {
    await withClient(database().url, async (client) => {
      await client.query("SET session_replication_role = 'replica'");
      await client.query(text, [sessionId]);
    });
  }

  describe('a session in which everything happened', () => {
    let session: Session;
    let runtime: Runtime;
    beforeAll(async () => {
      ({ session, runtime } = await onceInAWhile(database()));
      return () => runtime.close();
    });

    test('is whole, and a fold reproduces every state and the snapshot', async () => {
      const verified = await session.verify();
      const transitions = await session.transitions();
      expect(new Set(transitions.map(({ type }) => type)).size).toBeGreaterThan(12);
      expect(verified).toEqual({
        sessionId: session.sessionId,
        state: 'IDLE',
        transitions: transitions.length,
        folded: transitions.length,
        skipped: 0,
        loss: null,
        findings: [],
        head: { sequence: transitions.length, hash: transitions.at(-1)?.hash },
        erased: 0,
      });
      const { head: _head, erased: _erased, ...replayed } = verified;
      expect(await session.replay()).toEqual(replayed);
    });

    test('says of each transition who caused it, which worker committed it and which message it came from', async () => {
      const transitions = await session.transitions();
      const of = (type: string) => transitions.filter((transition) => transition.type === type);
      expect(of('user.messaged')[0]).toMatchObject({
        cause: 'user',
        messageId: 'message-1',
        turnIndexes: [0],
        by: null,
      });
      expect(of('message.enqueued')[0]).toMatchObject({ cause: 'user', messageId: 'message-2', holder: null });
      expect(of('approval.granted')[0]).toMatchObject({ cause: 'operator', by: 'ann', holder: null });
      expect(of('approval.denied')[0]).toMatchObject({ cause: 'operator', by: 'bob' });
      const holder = of('user.messaged')[0]?.holder;
      expect(holder).toMatch(/^[0-9a-f-]{36}$/);
      expect(of('tool.settled')[0]).toMatchObject({ cause: 'worker', holder });
      expect(of('tool.settled').flatMap(({ settled }) => settled)).toContainEqual(
        expect.stringMatching(/^[0-9a-f-]{36}$/),
      );
      const taken = of('worker.tookOver').at(-1);
      expect(taken).toMatchObject({ cause: 'worker', event: { holder: taken?.holder } });
      expect(taken?.holder).not.toBe(holder);
    });

    test('is read page by page as it is read at once', async () => {
      const all = await session.transitions();
      const pages = [];
      for (let after = 0; ; after += 5) {
        const page = await session.transitions({ after, limit: 5 });
        pages.push(...page);
        if (page.length < 5) break;
      }
      expect(pages).toEqual(all);
      for (const odd of [{ limit: 0 }, { limit: 1.5 }, { after: -1 }, { after: 'x' }, { before: 3 }]) {
        await expect(session.transitions(odd as object)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
      }
    });

    test('payloads that were erased are told, and the chain still verifies', async () => {
      const agent = scriptedAgent('done');
      const other = await openSession(await openRuntime(database(), [agent]), agent);
      for (const text of ['one', 'two']) await (await other.send(text)).result();
      await database().query(
        `UPDATE turnlock.agent_transition_payloads SET salt = NULL, payload = NULL, erased_at = turnlock.turnlock_now()
          WHERE session_id = $1 AND sequence = 2`,
        [other.sessionId],
      );
      expect(await other.verify()).toMatchObject({ findings: [], erased: 1, folded: 1, skipped: 3, loss: 'erased' });
      expect((await other.transitions())[1]).toMatchObject({ event: null, by: null, holder: null, turnIndexes: [] });
    });
  });

  /** Statement as the owner, triggers off, and what is found. */
  const TAMPERED: [title: string, text: string, found: [code: string, sequence: number | null][]][] = [
    ['the state of the session', `UPDATE s SET current_state = 'FAILED'`, [['LINK_BROKEN', null]]],
    [
      'its snapshot',
      `UPDATE s SET snapshot = jsonb_set(snapshot, '{context,modelCalls}', '9')`,
      [['SNAPSHOT_DIFFERS', null]],
    ],
    ['its version', `UPDATE s SET version = version + 1`, [['TRANSITION_MISSING', null]]],
    ['its begin', `UPDATE s SET agent_name = 'other'`, [['GENESIS_DIFFERS', null]]],
    [
      'the version of its machine',
      `UPDATE s SET machine_version = 7`,
      [
        ['ROWS_DIFFER', 4],
        ['SNAPSHOT_DIFFERS', null],
      ],
    ],
    ...[
      `event = 'message.enqueued'`,
      `cause = 'operator'`,
      `created_at = created_at + interval '1 ms'`,
      'token = 9',
      `event_id = 'x'`,
    ].map((set): (typeof TAMPERED)[number] => [
      `a transition: ${set}`,
      `UPDATE t SET ${set} WHERE sequence = 2`,
      [['HASH_DIFFERS', 2], ...(set.startsWith('event =') ? [['EVENT_DIFFERS', 2] as [string, number]] : [])],
    ]),
    [
      'the end of the audit, cut off',
      'DELETE FROM t WHERE sequence = 4',
      [
        ['TRANSITION_MISSING', null],
        ['LINK_BROKEN', null],
        ['SNAPSHOT_DIFFERS', null],
      ],
    ],
    [
      'a transition in the middle, cut out',
      'DELETE FROM t WHERE sequence = 2',
      [
        ['TRANSITION_MISSING', 3],
        ['LINK_BROKEN', 3],
        ['LINK_BROKEN', 3],
        ['STATE_DIFFERS', 3],
        ['EVENT_ILLEGAL', 3],
      ],
    ],
    [
      'a payload',
      `UPDATE p SET payload = jsonb_set(payload, '{holder}', '"me"') WHERE sequence = 1`,
      [['PAYLOAD_DIFFERS', 1]],
    ],
    ['a payload that is gone', 'DELETE FROM p WHERE sequence = 4', [['PAYLOAD_MISSING', 4]]],
    ['a turn', `UPDATE u SET content = 'other' WHERE turn_index = 1`, [['TURNS_DIFFER', 2]]],
    ['a part of a turn', `UPDATE u SET parts = '[]' WHERE turn_index = 1`, [['TURNS_DIFFER', 2]]],
    [
      'a turn that is gone',
      'DELETE FROM u WHERE turn_index = 3',
      [
        ['TURNS_DIFFER', 4],
        ['TURNS_UNACCOUNTED', null],
      ],
    ],
    [
      'a turn too many',
      `INSERT INTO u (tenant_id, session_id, turn_index, role, content) SELECT tenant_id, session_id, 4, 'user', 'pay' FROM u LIMIT 1`,
      [['TURNS_UNACCOUNTED', null]],
    ],
    ['an output', `UPDATE e SET output_payload = '{"paid":1}'`, [['OUTCOMES_DIFFER', 3]]],
    ['how a call ended', `UPDATE e SET status = 'FAILED'`, [['OUTCOMES_DIFFER', 3]]],
  ];

  const TABLES: Record<string, string> = {
    s: 'agent_sessions',
    t: 'agent_transitions',
    p: 'agent_transition_payloads',
    u: 'agent_turns',
    e: 'agent_tool_executions',
  };

  /** `UPDATE s SET …` as a statement on one session. */
  function statementOf(text: string): string {
    const [, verb = '', table = '', rest = ''] = /^(UPDATE|DELETE FROM|INSERT INTO) (\w) ?(.*)$/s.exec(text) ?? [];
    const name = `turnlock.${TABLES[table]}`;
    if (verb === 'INSERT INTO')
      return `${verb} ${name} ${rest.replace(' FROM u', ` FROM ${name} WHERE session_id = $1`)}`;
    return `${verb} ${name} ${rest.includes('WHERE') ? `${rest} AND` : `${rest} WHERE`} session_id = $1`;
  }

  describe('what was changed behind the guards', () => {
    const script = eachRun({ toolCalls: [call('pay', { n: 1 })] }, 'done');
    const agent = scriptedAgent(script, [looseTool('pay', () => ({ paid: true }))]);
    let runtime: Runtime;
    beforeAll(async () => {
      runtime = await openRuntime(database(), [agent], { adapter: database().adapter() });
      return () => runtime.close();
    });

    test.each(TAMPERED)('%s is found, with its place', async (_title, text, found) => {
      const session = await openSession(runtime, agent);
      await (await session.send('go')).result();
      expect((await session.verify()).findings).toEqual([]);
      await tamper(statementOf(text), session.sessionId);
      const { findings } = await session.verify();
      expect(findings.map(({ code, sequence }) => [code, sequence])).toEqual(found);
      for (const { found: is, wanted } of findings) expect(is).not.toBe(wanted);
    });

    test('an audit that its owner emptied is found, and has another head than the one that was anchored', async () => {
      const session = await openSession(runtime, agent);
      await (await session.send('go')).result();
      const { head } = await session.verify();
      await tamper('DELETE FROM turnlock.agent_transitions WHERE session_id = $1', session.sessionId);
      const emptied = await session.verify();
      expect(emptied.findings.length).toBeGreaterThan(0);
      expect(emptied.head).not.toEqual(head);
    });
  });

  test('a session with hundreds of transitions is verified page by page', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const seeded = { tenantId: 'tenant', agentName: agent.name, runs: 100 };
    const key = await withClient(database().url, (client) => seedSession(client, seeded));
    const session = await runtime.session(key);
    expect(await session.verify()).toMatchObject({ findings: [], transitions: 400, folded: 400, skipped: 0 });
    expect(await (await session.send('more')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    await tamper(
      `UPDATE turnlock.agent_turns SET content = 'other' WHERE session_id = $1 AND turn_index = 300`,
      key.sessionId,
    );
    expect((await session.verify()).findings).toMatchObject([{ code: 'TURNS_DIFFER', sequence: 301 }]);
  });

  test('a session of another tenant, or one that is gone, is not found', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent, { tenantId: 'mine' });
    await expect(runtime.session({ tenantId: 'theirs', sessionId: session.sessionId })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    await database().query('DELETE FROM turnlock.agent_sessions WHERE session_id = $1', [session.sessionId]);
    for (const read of [() => session.verify(), () => session.replay()]) {
      await expect(read()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    }
  });
});
