import { beforeAll, expect, test } from 'vitest';
import { insertCall, insertSession, move, type Sql, TENANT } from './scene.ts';

const TENANT_TABLES = [
  'agent_sessions',
  'agent_turns',
  'agent_tool_executions',
  'agent_transitions',
  'agent_transition_payloads',
  'agent_tool_evidence',
  'agent_inbox',
  'agent_approvals',
  'agent_model_calls',
  'agent_idempotency_claims',
  'agent_memories',
  'agent_memory_tasks',
];

/** Tenants are kept apart by the database: no tenant named, no rows; another one named, none of this one's. */
export function describeTenancy(open: () => Sql): void {
  let sessionId: string;
  let turnId: string;
  beforeAll(async () => {
    const sql = open();
    const call = await insertCall(sql);
    ({ sessionId, turnId } = call);
    await move(sql, sessionId, 'PLANNING');
    await fill(sql, call);
  });

  test.each(TENANT_TABLES)('%s shows its rows to their tenant alone', async (table) => {
    const count = async (tenant: string) => {
      return as(open(), 'turnlock_runtime', tenant, async (sql) => {
        const { rows } = await sql.query(`SELECT count(*)::int AS count FROM turnlock.${table}`);
        return rows[0].count;
      });
    };
    expect(await count(TENANT)).toBeGreaterThan(0);
    expect(await count('other')).toBe(0);
    expect(await count('')).toBe(0);
  });

  test('a row for another tenant is refused', async () => {
    const attempt = as(open(), 'turnlock_runtime', 'other', (sql) => insertSession(sql));
    await expect(attempt).rejects.toMatchObject({ code: '42501' });
  });

  test.each([
    ['a turn of a session', 'agent_turns (tenant_id, session_id, turn_index, role)', () => [sessionId, 7, 'user']],
    [
      'an execution of a turn',
      `agent_tool_executions (tenant_id, session_id, turn_id, run_id, tool_name, idempotency_key, input_parameters, ordinal,
        tool_version, params_digest, effect)`,
      () => [sessionId, turnId, sessionId, 't', 'key-of-other', '{}', 0, 1, 'd', 'readOnly'],
    ],
    ['a message', 'agent_inbox (tenant_id, session_id, content)', () => [sessionId, 'x']],
    ['a child session', CHILD, () => [sessionId, 'u', 'm', 'a', 1, 'session', 1, '{}']],
  ] as const)('%s of another tenant is refused, also to the owner', async (_title, target, values) => {
    const all = ['other', ...values()];
    const places = all.map((_, index) => `$${index + 1}`).join(', ');
    await expect(open().query(`INSERT INTO turnlock.${target} VALUES (${places})`, all)).rejects.toMatchObject({
      code: '23503',
    });
  });

  test.each([
    ['the tenant emptied', `SELECT set_config('turnlock.tenant', '', true)`],
    ['another tenant named', `SELECT set_config('turnlock.tenant', 'other', true)`],
    ['the role put back', 'RESET ROLE'],
  ])('with %s before COMMIT the deferred checks see as much as ever', async (_title, disguise) => {
    const attempt = as(open(), 'turnlock_runtime', TENANT, async (sql) => {
      const id = await insertSession(sql);
      await sql.query('UPDATE turnlock.agent_sessions SET version = version + 1 WHERE session_id = $1', [id]);
      await sql.query(disguise);
    });
    await expect(attempt).rejects.toMatchObject({ code: 'TL004' });
  });

  test('PUBLIC may execute nothing, and every SECURITY DEFINER function has a path that ends in pg_temp', async () => {
    const { rows } = await open().query(
      `SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'turnlock'::regnamespace AND (
          EXISTS (SELECT FROM aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee = 0)
          OR (p.prosecdef AND NOT EXISTS (SELECT FROM unnest(p.proconfig) c WHERE c LIKE 'search_path=%pg_temp')))`,
    );
    expect(rows).toEqual([]);
  });

  test.each([
    ['turnlock_runtime', 'SELECT turnlock.find_sessions(external_id => $1)', ['x']],
    ['turnlock_runtime', 'SELECT turnlock.list_sessions()', []],
    ['turnlock_runtime', 'SELECT turnlock.put_control($1)', ['freeze']],
    ['turnlock_runtime', 'UPDATE turnlock.turnlock_clock SET offset_ms = 1', []],
    ['turnlock_runtime', 'DELETE FROM turnlock.agent_sessions', []],
    ['turnlock_runtime', `INSERT INTO turnlock.agent_controls (kind, created_by) VALUES ('freeze', 'x')`, []],
    ['turnlock_runtime', 'SELECT * FROM turnlock.agent_operator_reads', []],
    ['turnlock_operator', 'SELECT * FROM turnlock.agent_sessions', []],
    ['turnlock_operator', 'SELECT turnlock.claim_sessions(1)', []],
    ['turnlock_client', 'SELECT * FROM turnlock.agent_sessions', []],
    ['turnlock_client', 'SELECT turnlock.sweep_sessions(1)', []],
  ])('%s may not %s', async (role, text, values) => {
    const attempt = as(open(), role, TENANT, (sql) => sql.query(text, values));
    await expect(attempt).rejects.toMatchObject({ code: '42501' });
  });

  test('a client creates a session and writes to it, for any tenant, and the tenant setting stays as it was', async () => {
    const rows = await as(open(), 'turnlock_client', 'mine', async (sql) => {
      const created = await sql.query(
        `SELECT * FROM turnlock.create_session('their', 'u', 'a', 1, 'm', 'session', 1, '{}', 'ext')`,
      );
      const id = created.rows[0].created_session_id;
      const again = await sql.query(
        `SELECT * FROM turnlock.create_session('their', 'u', 'a', 1, 'm', 'session', 1, '{}', 'ext')`,
      );
      expect(again.rows[0]).toEqual({ created_session_id: id, is_new: false });
      const first = await sql.query(`SELECT * FROM turnlock.enqueue('their', $1, 'message', 'hello')`, [id]);
      const second = await sql.query(`SELECT * FROM turnlock.enqueue('their', $1, 'message', 'hello')`, [id]);
      expect(second.rows[0]).toEqual({ ...first.rows[0], is_new: false });
      return (await sql.query(`SELECT current_setting('turnlock.tenant') AS tenant`)).rows;
    });
    expect(rows).toEqual([{ tenant: 'mine' }]);
  });

  test('what operators look for is noted', async () => {
    const found = await as(open(), 'turnlock_operator', '', (sql) => {
      return sql.query('SELECT tenant_id, session_id FROM turnlock.find_sessions(by_session_id => $1)', [sessionId]);
    });
    expect(found.rows).toEqual([{ tenant_id: TENANT, session_id: sessionId }]);
    const { rows } = await open().query('SELECT function_name, criteria FROM turnlock.agent_operator_reads');
    expect(rows).toContainEqual({ function_name: 'find_sessions', criteria: { sessionId, foundIn: [TENANT] } });
  });

  test('each page of a look for what may go is noted', async () => {
    await as(open(), 'turnlock_operator', '', (sql) =>
      sql.query('SELECT turnlock.list_removable($1, NULL, $2)', ['[]', sessionId]),
    );
    const { rows } = await open().query(
      `SELECT criteria FROM turnlock.agent_operator_reads WHERE function_name = 'list_removable'`,
    );
    expect(rows).toContainEqual({ criteria: { after: sessionId } });
  });

  test('what operators freeze, budget and lift is noted: a control that is gone says nothing of who lifted it', async () => {
    const control = async (sql: Sql) => {
      const { rows } = await sql.query(
        `SELECT turnlock.put_control('budget', 'noted', NULL, 'calls', 7, 'because') AS id`,
      );
      const drop = () => sql.query('SELECT turnlock.drop_control($1) AS dropped', [rows[0].id]);
      return [(await drop()).rows[0].dropped, (await drop()).rows[0].dropped];
    };
    expect(await as(open(), 'turnlock_operator', '', control)).toEqual([true, false]);
    const { rows } = await open().query(
      `SELECT function_name, criteria FROM turnlock.agent_operator_reads WHERE criteria ->> 'tenantId' = 'noted' ORDER BY read_id`,
    );
    const criteria = { kind: 'budget', tenantId: 'noted', unit: 'calls', dailyLimit: 7 };
    expect(rows).toEqual([
      { function_name: 'put_control', criteria },
      { function_name: 'drop_control', criteria },
    ]);
  });

  test('a control without tenant counts for every tenant', async () => {
    await as(open(), 'turnlock_operator', '', (sql) =>
      sql.query(`SELECT turnlock.put_control('freeze', NULL, 'refund')`),
    );
    await as(open(), 'turnlock_operator', '', (sql) =>
      sql.query(`SELECT turnlock.put_control('freeze', 'other', 'book')`),
    );
    const { rows } = await as(open(), 'turnlock_runtime', TENANT, (sql) => {
      return sql.query('SELECT tool_name FROM turnlock.agent_controls');
    });
    expect(rows).toEqual([{ tool_name: 'refund' }]);
  });
}

const CHILD = `agent_sessions (tenant_id, parent_session_id, user_id, active_model_id, agent_name, agent_version, machine_id,
  machine_version, snapshot)`;

/** A row in every table that the call itself does not fill. */
async function fill(sql: Sql, call: { sessionId: string; executionId: string }): Promise<void> {
  const { sessionId, executionId } = call;
  const statements: [string, unknown[]][] = [
    ['agent_transition_payloads (tenant_id, session_id, sequence) VALUES ($1, $2, 1)', [sessionId]],
    [
      `agent_tool_evidence (tenant_id, session_id, execution_id, attempt, token, outcome) VALUES ($1, $2, $3, 1, 1, 'failed')`,
      [sessionId, executionId],
    ],
    [`agent_inbox (tenant_id, session_id, content) VALUES ($1, $2, 'x')`, [sessionId]],
    [
      `agent_approvals (tenant_id, session_id, execution_id, args_digest, requested_at) VALUES ($1, $2, $3, 'd', now())`,
      [sessionId, executionId],
    ],
    [
      `agent_model_calls (tenant_id, session_id, run_id, attempt, model_id, agent_version, window_from, window_to, started_at)
        VALUES ($1, $2, $2, 1, 'm', 1, 0, 0, now())`,
      [sessionId],
    ],
    [
      `agent_idempotency_claims (tenant_id, tool_name, key_digest, state, params_digest, user_id, created_at, updated_at)
        VALUES ($1, 't', 'k', 'held', 'd', 'u', now(), now())`,
      [],
    ],
    [
      `agent_memories (tenant_id, user_id, kind, content, created_at, updated_at) VALUES ($1, 'u', 'fact', 'c', now(), now())`,
      [],
    ],
    [
      `agent_memory_tasks (tenant_id, kind, session_id, up_to_turn, due_at, created_at)
        VALUES ($1, 'summarise', $2, 0, now(), now())`,
      [sessionId],
    ],
  ];
  for (const [text, values] of statements) await sql.query(`INSERT INTO turnlock.${text}`, [TENANT, ...values]);
}

/** Runs `work` in a transaction of that role and tenant, and commits. */
async function as<T>(sql: Sql, role: string, tenant: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  await sql.query('BEGIN');
  try {
    await sql.query(`SELECT set_config('role', $1, true), set_config('turnlock.tenant', $2, true)`, [role, tenant]);
    const result = await work(sql);
    await sql.query('COMMIT');
    return result;
  } catch (error) {
    await sql.query('ROLLBACK');
    throw error;
  }
}
