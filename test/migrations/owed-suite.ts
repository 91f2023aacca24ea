import { beforeEach, describe, expect, test } from 'vitest';
import { insertCall, insertSession, move, type Sql, TENANT } from './scene.ts';

const PAST = `turnlock.turnlock_now() - interval '1 minute'`;
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
      expect(await ids([10, ['agent'], []])).toEqual([old, young]);
      expect(await ids([1, ['agent'], []])).toEqual([old]);
      expect(await ids([10, ['agent'], [old]])).toEqual([young]);
      expect(await ids([10, null, []])).toHaveLength(3);
      expect(await ids([0, null, []])).toEqual([]);
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
