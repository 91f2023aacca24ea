import { randomUUID } from 'node:crypto';

/** What a pg client and a PGlite instance have in common. */
export interface Sql {
  // biome-ignore lint/suspicious/noExplicitAny: rows of arbitrary statements
  query(text: string, values?: unknown[]): Promise<{ rows: any[] }>;
}

/** Columns of a row to insert, beside the ones that the scene fills in. */
export type Columns = Record<string, unknown>;

/** The tenant of every scene. */
export const TENANT = 'tenant-of-scenes';

async function insert(sql: Sql, table: string, columns: Columns): Promise<void> {
  const names = Object.keys(columns);
  const places = names.map((_, index) => `$${index + 1}`);
  await sql.query(
    `INSERT INTO turnlock.${table} (${names.join(', ')}) VALUES (${places.join(', ')})`,
    Object.values(columns),
  );
}

/** A session as the runtime inserts it: IDLE, version 0. Returns its id. */
export async function insertSession(sql: Sql, over: Columns = {}): Promise<string> {
  const session = { session_id: randomUUID(), tenant_id: TENANT, user_id: 'user', active_model_id: 'model' };
  const agent = { agent_name: 'agent', agent_version: 1, machine_id: 'session', machine_version: 1, snapshot: '{}' };
  const columns: Columns = { ...session, ...agent, ...over };
  await insert(sql, 'agent_sessions', columns);
  return columns.session_id as string;
}

/** A turn. Returns its id. */
export async function insertTurn(sql: Sql, sessionId: string, index: number, over: Columns = {}): Promise<string> {
  const columns: Columns = {
    turn_id: randomUUID(),
    tenant_id: TENANT,
    session_id: sessionId,
    turn_index: index,
    role: 'assistant',
    ...over,
  };
  await insert(sql, 'agent_turns', columns);
  return columns.turn_id as string;
}

/** An execution of a call of that turn. Returns its id. */
export async function insertExecution(
  sql: Sql,
  { sessionId, turnId }: { sessionId: string; turnId: string },
  over: Columns = {},
): Promise<string> {
  const call = { tool_name: 'tool', input_parameters: '{"a":1}', params_digest: 'digest', tool_version: 1, ordinal: 0 };
  const columns: Columns = {
    execution_id: randomUUID(),
    tenant_id: TENANT,
    session_id: sessionId,
    turn_id: turnId,
    run_id: randomUUID(),
    idempotency_key: randomUUID(),
    effect: 'readOnly',
    ...call,
    ...over,
  };
  await insert(sql, 'agent_tool_executions', columns);
  return columns.execution_id as string;
}

/** The row of a transition. */
export async function insertTransition(sql: Sql, sessionId: string, over: Columns): Promise<void> {
  const digests = { payload_digest: 'p', turns_digest: 't', outcomes_digest: 'o' };
  await insert(sql, 'agent_transitions', {
    session_id: sessionId,
    tenant_id: TENANT,
    event: 'test.happened',
    event_id: randomUUID(),
    cause: 'worker',
    token: 0,
    ...digests,
    ...over,
  });
}

/**
 * One whole transition in one statement, so that it is a commit of its own outside a transaction. The session's guard is the first to
 * see it. `set` adds assignments to the session's UPDATE.
 */
export async function move(sql: Sql, sessionId: string, to: string, set = ''): Promise<void> {
  const { rows } = await sql.query('SELECT current_state FROM turnlock.agent_sessions WHERE session_id = $1', [
    sessionId,
  ]);
  await sql.query(
    `WITH moved AS (
      UPDATE turnlock.agent_sessions SET current_state = $2, version = version + 1 ${set === '' ? '' : `, ${set}`}
        WHERE session_id = $1 RETURNING session_id, version, lease_token)
    INSERT INTO turnlock.agent_transitions (session_id, sequence, tenant_id, from_state, to_state, event, event_id, cause, token,
        payload_digest, turns_digest, outcomes_digest)
      SELECT session_id, version, $3, $4, $2, 'test.happened', gen_random_uuid()::text, 'worker', lease_token, 'p', 't', 'o' FROM moved`,
    [sessionId, to, TENANT, rows[0].current_state],
  );
}

/** A memory. Returns its id. */
export async function insertMemory(sql: Sql, over: Columns = {}): Promise<string> {
  const memory = { memory_id: randomUUID(), tenant_id: TENANT, user_id: 'user', kind: 'fact', content: 'content' };
  const columns: Columns = { ...memory, created_at: new Date(0), updated_at: new Date(0), ...over };
  await insert(sql, 'agent_memories', columns);
  return columns.memory_id as string;
}

/** A session with one assistant turn and one execution. */
export async function insertCall(sql: Sql, over: Columns = {}) {
  const sessionId = await insertSession(sql);
  const turnId = await insertTurn(sql, sessionId, 0);
  const executionId = await insertExecution(sql, { sessionId, turnId }, over);
  return { sessionId, turnId, executionId };
}
