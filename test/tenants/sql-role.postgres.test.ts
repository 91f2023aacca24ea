import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TENANT_TABLES } from '../../migrations/initial/policies.sql.ts';
import { type Call, insert, insertRow, ROWS } from '../invariants/schema/rows.ts';
import {
  insertCall,
  insertExecution,
  insertTransition,
  insertTurn,
  move,
  type Sql,
  TENANT,
} from '../migrations/scene.ts';
import { freshDatabase } from '../support/fresh-database.ts';

/** Somebody with the runtime's role in SQL who stays with one tenant, `other`, and knows ids of another. */

let client: pg.Client;
let call: Call;
let approvalId: string;
beforeAll(async () => {
  client = new pg.Client({ connectionString: (await freshDatabase()).url });
  await client.connect();
  call = await insertCall(client);
  await move(client, call.sessionId, 'PLANNING');
  for (const table of Object.keys(ROWS)) await insertRow(client, table as keyof typeof ROWS, call);
  const { rows } = await client.query('SELECT approval_id FROM turnlock.agent_approvals');
  approvalId = rows[0].approval_id;
});
afterAll(() => client.end());

/** What comes of `work` in a transaction of the role that is rolled back. */
async function asOther<Result>(
  work: (sql: Sql) => Promise<Result>,
  role = 'turnlock_runtime',
): Promise<Result | object> {
  await client.query('BEGIN');
  try {
    await client.query(`SELECT set_config('role', $1, true), set_config('turnlock.tenant', 'other', true)`, [role]);
    const result = await work(client);
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    return result;
  } catch (error) {
    const { code, constraint, detail, message, hint, where } = error as pg.DatabaseError;
    return { code, constraint, detail, message, hint, where };
  } finally {
    await client.query('ROLLBACK');
  }
}

test.each([...TENANT_TABLES, 'agent_controls'])(
  'C66 %s: of rows of another tenant none is read, changed or deleted',
  async (table) => {
    const count = async (text: string) => {
      const found = await asOther((sql) => sql.query(`WITH done AS (${text}) SELECT count(*)::int AS count FROM done`));
      return 'rows' in found ? found.rows : found;
    };
    const column = table === 'agent_controls' ? 'created_by' : 'tenant_id';
    expect(await count(`SELECT FROM turnlock.${table} WHERE tenant_id = '${TENANT}'`)).toEqual([{ count: 0 }]);
    const nothing = expect.toSatisfy((found) => found.code === '42501' || found[0]?.count === 0);
    expect(
      await count(`UPDATE turnlock.${table} SET ${column} = ${column} WHERE tenant_id = '${TENANT}' RETURNING 1`),
    ).toEqual(nothing);
    expect(await count(`DELETE FROM turnlock.${table} WHERE tenant_id = '${TENANT}' RETURNING 1`)).toEqual(nothing);
  },
);

/** Rows of `other` that point at what another tenant has, as it would be written. */
const POINTING: Readonly<Record<string, (sql: Sql, at: Call) => Promise<unknown>>> = {
  agent_turns: (sql, { sessionId }) => insertTurn(sql, sessionId, 7, { tenant_id: 'other' }),
  agent_tool_executions: (sql, at) => insertExecution(sql, at, { tenant_id: 'other' }),
  agent_transitions: (sql, { sessionId }) =>
    insertTransition(sql, sessionId, { tenant_id: 'other', sequence: 2, from_state: 'PLANNING', to_state: 'IDLE' }),
  agent_transition_payloads: (sql, { sessionId }) =>
    insert(sql, 'agent_transition_payloads', { tenant_id: 'other', session_id: sessionId, sequence: 2 }),
  agent_sessions: (sql, { sessionId }) =>
    sql.query(
      `INSERT INTO turnlock.agent_sessions (tenant_id, user_id, active_model_id, agent_name, agent_version, machine_id, machine_version, snapshot, parent_session_id)
        VALUES ('other', 'u', 'm', 'a', 1, 'session', 1, '{}', $1)`,
      [sessionId],
    ),
  agent_approvals: (sql, at) =>
    insert(sql, 'agent_approvals', { ...ROWS.agent_approvals(at), tenant_id: 'other', round: 2 }),
  agent_tool_evidence: (sql, at) =>
    insert(sql, 'agent_tool_evidence', { ...ROWS.agent_tool_evidence(at), tenant_id: 'other' }),
  agent_inbox: (sql, at) => insert(sql, 'agent_inbox', { ...ROWS.agent_inbox(at), tenant_id: 'other' }),
  agent_model_calls: (sql, at) =>
    insert(sql, 'agent_model_calls', { ...ROWS.agent_model_calls(at), tenant_id: 'other' }),
  agent_idempotency_claims: (sql, { executionId }) =>
    insert(sql, 'agent_idempotency_claims', {
      ...ROWS.agent_idempotency_claims(),
      tenant_id: 'other',
      execution_id: executionId,
    }),
  agent_memories: (sql, { sessionId }) =>
    insert(sql, 'agent_memories', { ...ROWS.agent_memories(), tenant_id: 'other', session_id: sessionId }),
  agent_memory_tasks: (sql, at) =>
    insert(sql, 'agent_memory_tasks', { ...ROWS.agent_memory_tasks(at), tenant_id: 'other' }),
};

const nobodys = (): Call => ({ sessionId: randomUUID(), turnId: randomUUID(), executionId: randomUUID() });

/** An error with the ids that it names under their names. */
const without = (at: Call, found: unknown) =>
  Object.entries(at).reduce((text, [name, id]) => text.replaceAll(id, `<${name}>`), JSON.stringify(found));

test.each(TENANT_TABLES)(
  'C66 a row of %s that points at what is another tenant’s is refused like one that points at nothing',
  async (table) => {
    const point = POINTING[table]!;
    const made = nobodys();
    const [atAnothers, atNobodys] = [
      await asOther((sql) => point(sql, call)),
      await asOther((sql) => point(sql, made)),
    ];
    expect(atAnothers).toMatchObject({ code: expect.stringMatching(/^(23503|TL010|TL041)$/) });
    expect(without(call, atAnothers)).toBe(without(made, atNobodys));
  },
);

test('C66 what one tenant names by itself does not stand in another’s way: external ids, message ids, business keys', async () => {
  await client.query('UPDATE turnlock.agent_inbox SET message_id = $1', ['the same']);
  await asOther(async (sql) => {
    const { rows } = await sql.query(
      `INSERT INTO turnlock.agent_sessions (tenant_id, user_id, external_id, active_model_id, agent_name, agent_version, machine_id, machine_version, snapshot)
        VALUES ('other', 'u', 'the same', 'm', 'a', 1, 'session', 1, '{}') RETURNING session_id`,
    );
    const own = { ...call, sessionId: rows[0].session_id };
    await insert(sql, 'agent_inbox', { ...ROWS.agent_inbox(own), tenant_id: 'other', message_id: 'the same' });
    await insert(sql, 'agent_idempotency_claims', { ...ROWS.agent_idempotency_claims(), tenant_id: 'other' });
    return {};
  }).then((found) => expect(found).toEqual({}));
});

/** Ids of ours that are unique in the whole database: who knows one can ask whether it exists. They are random, or digests over random ones. */
test.each<[string, (sql: Sql) => Promise<unknown>]>([
  ['agent_sessions_pkey', (sql) => insertSessionOf(sql, call.sessionId)],
  ['uq_session_turn_index', (sql) => insertTurn(sql, call.sessionId, 0, { tenant_id: 'other' })],
  ['agent_transition_payloads_pkey', (sql) => insertPayload(sql, call.sessionId)],
  [
    'uq_inbox_message',
    (sql) => insert(sql, 'agent_inbox', { ...ROWS.agent_inbox(call), tenant_id: 'other', message_id: 'the same' }),
  ],
  ['uq_approval_round', (sql) => insert(sql, 'agent_approvals', { ...ROWS.agent_approvals(call), tenant_id: 'other' })],
  [
    'agent_approvals_pkey',
    (sql) =>
      insert(sql, 'agent_approvals', {
        ...ROWS.agent_approvals(nobodys()),
        tenant_id: 'other',
        approval_id: approvalId,
      }),
  ],
])(
  'who has the runtime’s role and knows a random id of another tenant learns from %s that it exists, and nothing else',
  async (constraint, attempt) => {
    const found = await asOther(attempt);
    expect(found).toMatchObject({ code: '23505', constraint });
    expect(JSON.stringify(found)).not.toContain(TENANT);
  },
);

const insertSessionOf = (sql: Sql, sessionId: string) =>
  sql.query(
    `INSERT INTO turnlock.agent_sessions (session_id, tenant_id, user_id, active_model_id, agent_name, agent_version, machine_id, machine_version, snapshot)
      VALUES ($1, 'other', 'u', 'm', 'a', 1, 'session', 1, '{}')`,
    [sessionId],
  );

const insertPayload = (sql: Sql, sessionId: string) =>
  insert(sql, 'agent_transition_payloads', { tenant_id: 'other', session_id: sessionId, sequence: 1 });

test('a client that names another tenant’s session under its own tenant is told what it is told of none', async () => {
  const send = (sessionId: string) =>
    asOther(
      (sql) => sql.query(`SELECT turnlock.enqueue('other', $1, 'message', 'hello')`, [sessionId]),
      'turnlock_client',
    );
  const madeUp = nobodys();
  const found = await send(call.sessionId);
  expect(found).toMatchObject({ code: 'TL061' });
  expect(without(call, found)).toBe(without(madeUp, await send(madeUp.sessionId)));
});

test('who looks in a transaction that is rolled back leaves no row, and a line in the server’s log that it cannot turn off', async () => {
  const warnings: string[] = [];
  const listen = ({ severity, message = '' }: { severity?: string; message?: string }) =>
    severity === 'WARNING' && warnings.push(message);
  client.on('notice', listen as never);
  await asOther(
    (sql) => sql.query(`SELECT * FROM turnlock.find_sessions(external_id => 'secret')`),
    'turnlock_operator',
  );
  client.off('notice', listen as never);
  expect(warnings).toEqual([expect.stringMatching(/^turnlock: find_sessions was called by \S+$/)]);
  // What is logged unless the server is told otherwise: the line, without the statement in which the criteria stand.
  const settings = ['log_min_messages', 'log_min_error_statement'];
  const { rows } = await client.query('SELECT name, boot_val FROM pg_settings WHERE name = ANY ($1) ORDER BY 1', [
    settings,
  ]);
  expect(rows).toEqual([
    { name: 'log_min_error_statement', boot_val: 'error' },
    { name: 'log_min_messages', boot_val: 'warning' },
  ]);
  for (const name of settings) {
    expect(await asOther((sql) => sql.query(`SET ${name} = panic`), 'turnlock_operator')).toMatchObject({
      code: '42501',
    });
  }
  const gap = `SELECT last_value > COALESCE((SELECT max(read_id) FROM turnlock.agent_operator_reads), 0) AS gap
    FROM turnlock.agent_operator_reads_read_id_seq`;
  expect((await client.query(gap)).rows).toEqual([{ gap: true }]);
});

test('a stolen runtime role names whatever tenant it likes, and so sees and writes the rows of every one', async () => {
  const seen = await asOther(async (sql) => {
    await sql.query(`SELECT set_config('turnlock.tenant', $1, true)`, [TENANT]);
    await insertTurn(sql, call.sessionId, 1);
    return (await sql.query('SELECT count(*)::int AS count FROM turnlock.agent_turns')).rows;
  });
  expect(seen).toEqual([{ count: 2 }]);
  const tenants = await asOther(
    async (sql) => (await sql.query('SELECT tenant_id FROM turnlock.sweep_sessions(10)')).rows,
  );
  expect(tenants).toEqual([{ tenant_id: TENANT }]);
});

test('a stolen runtime role drops messages that wait and frees business keys: rows without a history of their own', async () => {
  const done = await asOther(async (sql) => {
    await sql.query(`SELECT set_config('turnlock.tenant', $1, true)`, [TENANT]);
    const texts = ['DELETE FROM turnlock.agent_inbox', `UPDATE turnlock.agent_idempotency_claims SET state = 'free'`];
    const counts: (number | undefined)[] = [];
    for (const text of texts) counts.push((await sql.query(`${text} RETURNING 1`)).rows.length);
    return counts;
  });
  expect(done).toEqual([1, 1]);
});

test.each<[string, string, string, string]>([
  [
    'a stolen runtime role',
    'turnlock_runtime',
    'rewrites the audit',
    'UPDATE turnlock.agent_transitions SET event = event',
  ],
  [
    'a stolen runtime role',
    'turnlock_runtime',
    'rewrites the history',
    'UPDATE turnlock.agent_turns SET content = content',
  ],
  ['a stolen runtime role', 'turnlock_runtime', 'deletes sessions', 'DELETE FROM turnlock.agent_sessions'],
  [
    'a stolen runtime role',
    'turnlock_runtime',
    'erases what was recorded',
    'UPDATE turnlock.agent_transition_payloads SET payload = NULL, salt = NULL, erased_at = now()',
  ],
  ['a stolen runtime role', 'turnlock_runtime', 'lifts a freeze', 'DELETE FROM turnlock.agent_controls'],
  [
    'a stolen runtime role',
    'turnlock_runtime',
    'sees what operators looked for',
    'SELECT FROM turnlock.agent_operator_reads',
  ],
  ['a stolen runtime role', 'turnlock_runtime', 'turns triggers off', `SET session_replication_role = 'replica'`],
  [
    'a stolen runtime role',
    'turnlock_runtime',
    'drops a guard',
    'DROP TRIGGER guard_append_only ON turnlock.agent_transitions',
  ],
  ['a stolen client role', 'turnlock_client', 'reads', 'SELECT FROM turnlock.agent_turns'],
  ['a stolen client role', 'turnlock_client', 'lists sessions', 'SELECT turnlock.sweep_sessions(1)'],
  ['a stolen reader role', 'turnlock_reader', 'writes a turn', 'INSERT INTO turnlock.agent_turns DEFAULT VALUES'],
  [
    'a stolen reader role',
    'turnlock_reader',
    'changes a session',
    'UPDATE turnlock.agent_sessions SET wake_at = now()',
  ],
  ['a stolen reader role', 'turnlock_reader', 'drops a message', 'DELETE FROM turnlock.agent_inbox'],
  ['a stolen reader role', 'turnlock_reader', 'lists other tenants', 'SELECT turnlock.list_sessions()'],
  [
    'a stolen reader role',
    'turnlock_reader',
    'writes to a session',
    `SELECT turnlock.enqueue('other', gen_random_uuid(), 'm', 'c')`,
  ],
  [
    'a stolen reader role',
    'turnlock_reader',
    'sees what operators looked for',
    'SELECT FROM turnlock.agent_operator_reads',
  ],
  ['a stolen operator role', 'turnlock_operator', 'reads what was said', 'SELECT FROM turnlock.agent_turns'],
  [
    'a stolen operator role',
    'turnlock_operator',
    'writes to a session',
    `SELECT turnlock.enqueue('other', gen_random_uuid(), 'm', 'c')`,
  ],
  ['a stolen operator role', 'turnlock_operator', 'hides that it looked', 'DELETE FROM turnlock.agent_operator_reads'],
])('%s (%s) never %s', async (_who, role, _what, text) => {
  expect(await asOther((sql) => sql.query(text), role)).toMatchObject({ code: '42501' });
});
