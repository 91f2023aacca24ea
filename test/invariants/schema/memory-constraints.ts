import { type Columns, insertMemory, type Sql, TENANT } from '../../migrations/scene.ts';
import { type Case, check, ELSEWHERE, ofAnother, row, twice } from './attempts.ts';
import { type Call, insertRow } from './rows.ts';

/** A memory in whose place another one stands. */
async function supersede(sql: Sql, call: Call, over: Columns): Promise<void> {
  const by = await insertMemory(sql);
  await insertRow(sql, 'agent_memories', call, { superseded_by: by, superseded_at: new Date(0), ...over });
}

/** SQLSTATE 23514. */
export const MEMORY_CHECKS: Case[] = [
  check('check_memory_kind on agent_memories', 'a memory of no kind', row('agent_memories', { kind: 'rumour' })),
  check(
    'check_memory_covers on agent_memories',
    'a fact that tells of a session’s turns',
    row('agent_memories', { covers_to_turn: 1 }),
  ),
  check('check_memory_superseded on agent_memories', 'a memory that was superseded at no moment', (sql, call) =>
    supersede(sql, call, { superseded_at: null }),
  ),
  check(
    'check_memory_task_kind on agent_memory_tasks',
    'owed work of no kind',
    row('agent_memory_tasks', { kind: 'dream', session_id: null, up_to_turn: null }),
  ),
  check(
    'check_memory_task_embed on agent_memory_tasks',
    'a vector that is owed for no memory',
    row('agent_memory_tasks', { kind: 'embed', session_id: null, up_to_turn: null }),
  ),
  check(
    'check_memory_task_summarise on agent_memory_tasks',
    'a summary that is owed for no session',
    row('agent_memory_tasks', { session_id: null }),
  ),
  check(
    'check_memory_task_attempts on agent_memory_tasks',
    'attempts below zero',
    row('agent_memory_tasks', { attempts: -1 }),
  ),
];

/** SQLSTATE 23505. */
export const MEMORY_UNIQUES: Case[] = [
  check(
    'uq_memory_task_memory on agent_memory_tasks',
    'the vector of a memory owed twice',
    twice(async (sql, call) => {
      await sql.query(
        `INSERT INTO turnlock.agent_memories (tenant_id, user_id, memory_id, kind, content, created_at, updated_at)
          VALUES ($1, 'user', $2, 'fact', 'c', now(), now()) ON CONFLICT DO NOTHING`,
        [TENANT, call.sessionId],
      );
      const embed = { kind: 'embed', user_id: 'user', memory_id: call.sessionId, session_id: null, up_to_turn: null };
      await row('agent_memory_tasks', embed)(sql, call);
    }),
  ),
  check(
    'uq_memory_task_session on agent_memory_tasks',
    'the summary of a session owed twice',
    twice(row('agent_memory_tasks')),
  ),
];

/** SQLSTATE 23503. */
export const MEMORY_FOREIGN_KEYS: Case[] = [
  check(
    'fk_memory_session on agent_memories',
    'a memory of another tenant’s session',
    row('agent_memories', ({ sessionId }) => ({ ...ELSEWHERE, session_id: sessionId })),
  ),
  check(
    'fk_memory_turn on agent_memories',
    'a memory of another session’s turn',
    ofAnother(({ turnId }) => row('agent_memories', ({ sessionId }) => ({ session_id: sessionId, turn_id: turnId }))),
  ),
  check('fk_memory_superseded on agent_memories', 'a memory superseded by another user’s', (sql, call) =>
    supersede(sql, call, { user_id: 'other' }),
  ),
  check(
    'fk_memory_task_memory on agent_memory_tasks',
    'work that is owed for no memory of the user',
    row('agent_memory_tasks', ({ sessionId }) => ({
      kind: 'embed',
      user_id: 'user',
      memory_id: sessionId,
      session_id: null,
      up_to_turn: null,
    })),
  ),
  check(
    'fk_memory_task_session on agent_memory_tasks',
    'work that is owed for another tenant’s session',
    row('agent_memory_tasks', ELSEWHERE),
  ),
];
