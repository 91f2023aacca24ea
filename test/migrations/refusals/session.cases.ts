import { insertCall, insertSession, insertTransition, insertTurn, move, TENANT } from '../scene.ts';
import type { RefusalCase } from './refusal-case.ts';

const update = (set: string): RefusalCase['attempt'] => {
  return (sql, id) => sql.query(`UPDATE turnlock.agent_sessions SET ${set} WHERE session_id = $1`, [id]);
};
const insertGuard = 'guard_session_insert on agent_sessions';
const updateGuard = 'guard_session_update on agent_sessions';

/** A session in PLANNING, version 1, with a lease under token 0. */
const planning: RefusalCase['arrange'] = async (sql) => {
  const id = await insertSession(sql);
  await move(sql, id, 'PLANNING', `lease_holder = 'a', lease_expires_at = now()`);
  return id;
};

const begun = (title: string, over: Record<string, unknown>): RefusalCase => ({
  code: 'TL001',
  title,
  guard: insertGuard,
  attempt: (sql) => insertSession(sql, over),
});

const identity = (column: string, value: string): RefusalCase => ({
  code: 'TL006',
  title: `a new ${column}`,
  guard: updateGuard,
  arrange: planning,
  attempt: (sql, id) => move(sql, id, 'PLANNING', `${column} = ${value}`),
});

const ERASED = `UPDATE turnlock.agent_sessions SET erased_at = now(), user_id = 'erased ' || session_id, external_id = NULL, metadata = '{}'`;

const erased = (title: string, arrange: RefusalCase['arrange'], also = ''): RefusalCase => ({
  code: 'TL007',
  title,
  guard: updateGuard,
  arrange: arrange as NonNullable<RefusalCase['arrange']>,
  attempt: (sql, id) => sql.query(`${ERASED}${also} WHERE session_id = $1`, [id]),
});

const over: RefusalCase['arrange'] = async (sql) => {
  const id = await insertSession(sql);
  await move(sql, id, 'COMPLETED');
  return id;
};

const overWithPayload: RefusalCase['arrange'] = async (sql) => {
  const id = await over(sql);
  await sql.query(
    `INSERT INTO turnlock.agent_transition_payloads (session_id, sequence, tenant_id, salt, payload) VALUES ($1, 1, $2, 's', '{}')`,
    [id, TENANT],
  );
  return id;
};

export const sessionCases: RefusalCase[] = [
  begun('a session that begins in another state', { current_state: 'PLANNING' }),
  begun('a session that begins with a version', { version: 1 }),
  begun('a session that begins with a token', { lease_token: 1 }),
  begun('a session that begins with a lease', { lease_holder: 'a', lease_expires_at: '2030-01-01' }),
  begun('a session that begins with recoveries', { recoveries: 1 }),
  {
    code: 'TL002',
    title: 'an illegal pair of states',
    guard: updateGuard,
    arrange: (sql) => insertSession(sql),
    attempt: update(`current_state = 'FAILED', version = version + 1`),
  },
  ...[
    'snapshot = \'{"x":1}\'',
    'lease_token = 5',
    `updated_at = '2020-01-01'`,
    `metadata = '{"x":1}'`,
    'recoveries = 9',
  ].map(
    (set): RefusalCase => ({
      code: 'TL003',
      title: `${set} without a version`,
      guard: updateGuard,
      arrange: planning,
      attempt: update(set),
    }),
  ),
  {
    code: 'TL003',
    title: 'a parent that is unlinked while it lives',
    guard: updateGuard,
    arrange: async (sql) => insertSession(sql, { parent_session_id: await insertSession(sql) }),
    attempt: update('parent_session_id = NULL'),
  },
  {
    code: 'TL003',
    title: 'a version that jumps',
    guard: updateGuard,
    arrange: planning,
    attempt: update('version = version + 2'),
  },
  {
    code: 'TL004',
    title: 'a version without a transition row',
    guard: 'check_session_history on agent_sessions',
    arrange: planning,
    attempt: update('version = version + 1'),
  },
  {
    code: 'TL004',
    title: 'a transition row with another token',
    guard: 'check_session_history on agent_sessions',
    arrange: planning,
    attempt: async (sql, id) => {
      await insertTransition(sql, id, { sequence: 2, from_state: 'PLANNING', to_state: 'IDLE', token: 7 });
      await update(`version = version + 1, current_state = 'IDLE'`)(sql, id);
    },
  },
  {
    code: 'TL004',
    title: 'a transition row to another state',
    guard: 'check_session_history on agent_sessions',
    arrange: planning,
    attempt: async (sql, id) => {
      await insertTransition(sql, id, { sequence: 2, from_state: 'PLANNING', to_state: 'FAILED' });
      await update(`version = version + 1, current_state = 'IDLE'`)(sql, id);
    },
  },
  {
    code: 'TL004',
    title: 'another machine without its upgrade',
    guard: 'check_session_history on agent_sessions',
    arrange: planning,
    attempt: (sql, id) => move(sql, id, 'PLANNING', 'machine_version = machine_version + 1'),
  },
  {
    code: 'TL005',
    title: 'a token that falls',
    guard: updateGuard,
    arrange: planning,
    attempt: (sql, id) => move(sql, id, 'PLANNING', 'lease_token = -1'),
  },
  erased('the erasure of a session that is not over', planning),
  erased('the erasure of a session whose payloads are there', overWithPayload),
  erased('the erasure of a session by half', over, `, normalised = '[]'`),
  identity('tenant_id', `'other'`),
  identity('user_id', `'other'`),
  identity('agent_name', `'other'`),
  identity('machine_id', `'other'`),
  identity('created_at', `'2020-01-01'`),
  identity('genesis_hash', `'other'`),
  identity('first_agent_version', '7'),
  identity('first_machine_version', '7'),
  identity('parent_session_id', 'session_id'),
  {
    code: 'TL035',
    title: 'an execution that runs in PLANNING',
    guard: 'check_execution_running on agent_tool_executions',
    attempt: (sql) => insertCall(sql, { status: 'RUNNING', attempt: 1, fencing_token: 1 }),
  },
  {
    code: 'TL035',
    title: 'a session that leaves EXECUTING_TOOL while an execution runs',
    guard: 'check_session_running on agent_sessions',
    arrange: async (sql) => {
      const { sessionId } = await insertCall(sql, { status: 'RUNNING', attempt: 1, fencing_token: 1 });
      await move(sql, sessionId, 'EXECUTING_TOOL');
      await sql.query('SET CONSTRAINTS ALL IMMEDIATE');
      await sql.query('SET CONSTRAINTS ALL DEFERRED');
      return sessionId;
    },
    attempt: (sql, id) => move(sql, id, 'AWAITING_INPUT'),
  },
  {
    code: 'TL020',
    title: 'a turn without predecessor',
    guard: 'check_turn_gap on agent_turns',
    arrange: (sql) => insertSession(sql),
    attempt: (sql, id) => insertTurn(sql, id, 1),
  },
];
