import { beforeEach, describe, expect, test } from 'vitest';
import {
  type Columns,
  insertCall,
  insertExecution,
  insertSession,
  insertTurn,
  move,
  type Sql,
  TENANT,
} from './scene.ts';

const PAST = `turnlock.turnlock_now() - interval '1 minute'`;
/** What a build knows: version 2 of its agent and of its tool. */
const BUILD = JSON.stringify({ machines: { session: [1] }, agents: { agent: { version: 2, tools: { tool: 2 } } } });
const FUTURE = `turnlock.turnlock_now() + interval '1 minute'`;

/** Which sessions owe work: a table of what must and must not be found. */
export function describeOwed(open: () => Sql): void {
  const cases: [owed: boolean, title: string, arrange: (sql: Sql) => Promise<unknown>][] = [
    [
      true,
      'PLANNING whose lease ended',
      (sql) => at(sql, 'PLANNING', `lease_holder = 'a', lease_expires_at = ${PAST}`),
    ],
    [
      false,
      'PLANNING with a live lease',
      (sql) => at(sql, 'PLANNING', `lease_holder = 'a', lease_expires_at = ${FUTURE}`),
    ],
    [true, 'PLANNING without a lease', (sql) => at(sql, 'PLANNING', `updated_at = ${PAST}`)],
    [true, 'EXECUTING_TOOL without a lease', (sql) => at(sql, 'EXECUTING_TOOL', `updated_at = ${PAST}`)],
    [false, 'PLANNING that backs off', (sql) => at(sql, 'PLANNING', `wake_at = ${FUTURE}`)],
    [
      true,
      'PLANNING that backs off under a lease that ended',
      (sql) => at(sql, 'PLANNING', `wake_at = ${FUTURE}, lease_holder = 'a', lease_expires_at = ${PAST}`),
    ],
    [false, 'IDLE', (sql) => insertSession(sql)],
    [true, 'IDLE with a due wake', (sql) => at(sql, 'IDLE', `wake_at = ${PAST}`)],
    [false, 'IDLE with a wake to come', (sql) => at(sql, 'IDLE', `wake_at = ${FUTURE}`)],
    [
      false,
      'IDLE with a due wake and a live lease',
      (sql) => at(sql, 'IDLE', `wake_at = ${PAST}, lease_holder = 'a', lease_expires_at = ${FUTURE}`),
    ],
    [true, 'AWAITING_INPUT with a due wake', (sql) => at(sql, 'AWAITING_INPUT', `wake_at = ${PAST}`)],
    [false, 'COMPLETED with a due wake', (sql) => at(sql, 'COMPLETED', `wake_at = ${PAST}`)],
    [true, 'IDLE with a message', async (sql) => written(sql, await insertSession(sql))],
    [true, 'AWAITING_INPUT with news', async (sql) => written(sql, await at(sql, 'AWAITING_INPUT'))],
    [
      false,
      'AWAITING_INPUT with a message that was noted',
      async (sql) => written(sql, await at(sql, 'AWAITING_INPUT'), 'noted_at = now()'),
    ],
    [
      false,
      'IDLE with a message that was rejected',
      async (sql) => written(sql, await insertSession(sql), `rejected_at = now(), rejected_code = 'X'`),
    ],
    [false, 'FAILED with a message', async (sql) => written(sql, await at(sql, 'FAILED'))],
    [
      false,
      'EXECUTING_TOOL that sleeps while its children work',
      (sql) => at(sql, 'EXECUTING_TOOL', `wake_at = ${FUTURE}`),
    ],
    [
      true,
      'EXECUTING_TOOL that sleeps, with news',
      async (sql) => written(sql, await at(sql, 'EXECUTING_TOOL', `wake_at = ${FUTURE}`)),
    ],
    [
      true,
      'a child that is at work, whose parent gave it up',
      async (sql) => {
        const id = await at(sql, 'PLANNING', `lease_holder = 'a', lease_expires_at = ${FUTURE}`);
        await sql.query(
          `INSERT INTO turnlock.agent_inbox (tenant_id, session_id, kind, content) VALUES ($1, $2, 'cancel', '')`,
          [TENANT, id],
        );
      },
    ],
    [
      true,
      'COMPLETED with a message that came while it completed',
      async (sql) => {
        const id = await insertSession(sql);
        await written(sql, id);
        await move(sql, id, 'COMPLETED');
      },
    ],
    [
      true,
      'IDLE with late evidence',
      async (sql) => {
        const { sessionId, executionId } = await insertCall(sql);
        await sql.query(
          `INSERT INTO turnlock.agent_tool_evidence (tenant_id, session_id, execution_id, attempt, token, outcome)
            VALUES ($1, $2, $3, 1, 1, 'succeeded')`,
          [TENANT, sessionId, executionId],
        );
      },
    ],
  ];

  describe.each(['claim_sessions', 'sweep_sessions'])('%s', (name) => {
    beforeEach(() => open().query('DELETE FROM turnlock.agent_sessions'));

    test.each(cases)('%s: %s', async (owed, _title, arrange) => {
      const sql = open();
      await arrange(sql);
      const { rows } = await sql.query(`SELECT * FROM turnlock.${name}(10)`);
      expect(rows.length).toBe(owed ? 1 : 0);
      if (owed)
        expect(rows[0]).toEqual({ tenant_id: TENANT, session_id: expect.any(String), due_at: expect.any(Date) });
    });

    test('is bounded, ordered by due time, and leaves out other agents and excluded sessions', async () => {
      const sql = open();
      const due = async (minutes: number, over = {}) => {
        const id = await insertSession(sql, over);
        await move(sql, id, 'PLANNING', `updated_at = turnlock.turnlock_now() - interval '${minutes} minutes'`);
        return id;
      };
      const young = await due(1);
      const old = await due(3);
      await due(2, { agent_name: 'other' });
      const ids = async (values: unknown[]) => {
        const { rows } = await sql.query(`SELECT session_id FROM turnlock.${name}($1, $2, $3)`, values);
        return rows.map((row) => row.session_id);
      };
      expect(await ids([10, BUILD, []])).toEqual([old, young]);
      expect(await ids([1, BUILD, []])).toEqual([old]);
      expect(await ids([10, BUILD, [old]])).toEqual([young]);
      expect(await ids([10, null, []])).toHaveLength(3);
      expect(await ids([0, null, []])).toEqual([]);
    });
  });

  const kinds: [kind: string, arrange: (sql: Sql, since: string) => Promise<string>][] = [
    ['at work', (sql, since) => at(sql, 'PLANNING', `lease_holder = 'a', lease_expires_at = ${since}`)],
    ['woken', (sql, since) => at(sql, 'IDLE', `wake_at = ${since}`)],
    [
      'written to',
      async (sql, since) => {
        const id = await insertSession(sql);
        await written(sql, id, `created_at = ${since}`);
        return id;
      },
    ],
  ];

  describe.each(['claim_sessions', 'sweep_sessions'])('%s is fair', (name) => {
    beforeEach(() => open().query('DELETE FROM turnlock.agent_sessions'));

    test.each(kinds)('a flood of the others keeps none waiting that is longer due: %s', async (kind, arrange) => {
      const sql = open();
      const others = kinds.filter(([other]) => other !== kind);
      const flood = async () => {
        for (const [, one] of [...others, ...others]) await one(sql, PAST);
      };
      await flood();
      const id = await arrange(sql, `turnlock.turnlock_now() - interval '2 minutes'`);
      await flood();
      const found = async (max: number) => {
        const { rows } = await sql.query(`SELECT session_id FROM turnlock.${name}($1)`, [max]);
        return rows.map((row) => row.session_id);
      };
      expect(await found(1)).toEqual([id]);
      expect((await found(2))[0]).toBe(id);
      expect(new Set(await found(20)).size).toBe(9);
    });
  });

  describe.each(['claim_sessions', 'sweep_sessions'])('%s of a build', (name) => {
    beforeEach(() => open().query('DELETE FROM turnlock.agent_sessions'));

    /** What a session of the agent is, beside version 1 of everything, and which part of it is newer than the build. */
    const versions: [stranded: string | null, title: string, session: Columns, call?: Columns][] = [
      [null, 'the same version of the agent', {}],
      [null, 'an older version of the agent', { agent_version: 1 }],
      ['agent', 'a newer version of the agent', { agent_version: 3 }],
      ['machine', 'a newer machine', { machine_version: 2 }],
      ['machine', 'another machine', { machine_id: 'flow' }],
      [null, 'an open call of the same tool', {}, { tool_version: 2 }],
      [null, 'an open call of an older tool', {}, { tool_version: 1 }],
      ['tool', 'an open call of a newer tool', {}, { tool_version: 3 }],
      [null, 'a settled call of a newer tool', {}, { tool_version: 3, status: 'FAILED' }],
      [null, 'an open call of a tool that the build does not have', {}, { tool_name: 'gone', tool_version: 9 }],
    ];

    test.each(versions)('newer is %s: %s', async (stranded, _title, session, execution) => {
      const sql = open();
      const id = await insertSession(sql, { agent_version: 2, ...session });
      if (execution !== undefined) {
        const turnId = await insertTurn(sql, id, 0);
        await insertExecution(sql, { sessionId: id, turnId }, execution);
      }
      await move(sql, id, 'PLANNING', `updated_at = ${PAST}`);
      const { rows } = await sql.query(`SELECT session_id FROM turnlock.${name}(10, $1)`, [BUILD]);
      expect(rows.map((row) => row.session_id)).toEqual(stranded === null ? [id] : []);
      const why = await sql.query('SELECT turnlock.why_stranded($1, $2) AS why', [id, BUILD]);
      expect(why.rows).toEqual([{ why: stranded }]);
    });

    test('what is newer takes no place of a bounded answer', async () => {
      const sql = open();
      for (let count = 0; count < 3; count += 1) {
        const newer = await insertSession(sql, { agent_version: 3 });
        await move(sql, newer, 'PLANNING', `updated_at = '2020-01-01'`);
        await written(sql, await insertSession(sql, { agent_version: 3 }));
      }
      const id = await insertSession(sql);
      await move(sql, id, 'PLANNING', `updated_at = ${PAST}`);
      const { rows } = await sql.query(`SELECT session_id FROM turnlock.${name}(1, $1)`, [BUILD]);
      expect(rows.map((row) => row.session_id)).toEqual([id]);
    });
  });

  test('next_due_at tells when the next session becomes due', async () => {
    const sql = open();
    await sql.query('DELETE FROM turnlock.agent_sessions');
    await at(sql, 'IDLE', `wake_at = '2100-01-02'`);
    await at(sql, 'PLANNING', `lease_holder = 'a', lease_expires_at = '2100-01-01'`);
    const { rows } = await sql.query('SELECT turnlock.next_due_at() AS due');
    expect(rows[0].due).toEqual(new Date('2100-01-01T00:00:00Z'));
  });
}

/** A session in `state`, its last commit with these assignments too. */
async function at(sql: Sql, state: string, set = ''): Promise<string> {
  const id = await insertSession(sql);
  const way = { IDLE: [], PLANNING: [], COMPLETED: [] }[state] ?? ['PLANNING'];
  for (const step of way) await move(sql, id, step);
  await move(sql, id, state, set);
  return id;
}

async function written(sql: Sql, sessionId: string, set = ''): Promise<void> {
  await sql.query('SELECT turnlock.enqueue($1, $2, NULL, $3)', [TENANT, sessionId, 'hello']);
  if (set !== '') await sql.query(`UPDATE turnlock.agent_inbox SET ${set} WHERE session_id = $1`, [sessionId]);
}
