import { type Columns, type Sql, TENANT } from '../../migrations/scene.ts';

/** What a scene begins with: a session with one assistant turn and one execution. */
export interface Call {
  sessionId: string;
  turnId: string;
  executionId: string;
}

/** Inserts one row. */
export async function insert(sql: Sql, table: string, columns: Columns): Promise<void> {
  const names = Object.keys(columns);
  const places = names.map((_, index) => `$${index + 1}`).join(', ');
  await sql.query(`INSERT INTO turnlock.${table} (${names.join(', ')}) VALUES (${places})`, Object.values(columns));
}

/** A row of each table, as it is legal for the call that every scene begins with. */
export const ROWS = {
  agent_transition_payloads: ({ sessionId }: Call) => ({ session_id: sessionId, sequence: 1 }),
  agent_tool_evidence: ({ sessionId, executionId }: Call) => ({
    session_id: sessionId,
    execution_id: executionId,
    attempt: 1,
    token: 1,
    outcome: 'succeeded',
  }),
  agent_inbox: ({ sessionId }: Call) => ({ session_id: sessionId, content: 'x' }),
  agent_approvals: ({ sessionId, executionId }: Call) => ({
    session_id: sessionId,
    execution_id: executionId,
    args_digest: 'd',
    requested_at: new Date(0),
  }),
  agent_model_calls: ({ sessionId }: Call) => ({
    session_id: sessionId,
    run_id: sessionId,
    attempt: 1,
    model_id: 'm',
    agent_version: 1,
    window_from: 0,
    window_to: 0,
    started_at: new Date(0),
  }),
  agent_idempotency_claims: () => ({
    tool_name: 't',
    key_digest: 'k',
    state: 'held',
    params_digest: 'd',
    user_id: 'u',
    created_at: new Date(0),
    updated_at: new Date(0),
  }),
  agent_memories: () => ({
    user_id: 'user',
    kind: 'fact',
    content: 'c',
    created_at: new Date(0),
    updated_at: new Date(0),
  }),
  agent_memory_tasks: ({ sessionId }: Call) => ({
    kind: 'summarise',
    session_id: sessionId,
    up_to_turn: 0,
    due_at: new Date(0),
    created_at: new Date(0),
  }),
  agent_controls: () => ({ kind: 'freeze', created_by: 'x' }),
};

/** Inserts a row of the tenant of every scene that differs from a legal one by `over`. */
export async function insertRow(sql: Sql, table: keyof typeof ROWS, call: Call, over: Columns = {}): Promise<void> {
  await insert(sql, table, { tenant_id: TENANT, ...ROWS[table](call), ...over });
}
