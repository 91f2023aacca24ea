import { auditCases } from '../../migrations/refusals/audit.cases.ts';
import { memoryCases } from '../../migrations/refusals/memory.cases.ts';
import type { RefusalCase } from '../../migrations/refusals/refusal-case.ts';
import { sessionCases } from '../../migrations/refusals/session.cases.ts';
import { workCases } from '../../migrations/refusals/work.cases.ts';
import { insertCall, insertMemory, insertSession, insertTurn, move, type Sql, TENANT } from '../../migrations/scene.ts';
import type { Scene, SchemaGuard } from '../guard.ts';

/** Refusals behind which a second guard stands: with the first one gone, that one refuses. Scenes of the guards' own stand below. */
const REFUSED_TWICE = new Set([
  'an illegal pair of states',
  'a version that jumps',
  'a token that falls',
  'a new tenant_id',
  'a transition without predecessor',
  'a transition that does not start where the last one ended',
  'a first transition that does not start in IDLE',
  'a transition row of an illegal pair',
  'DELETE FROM turnlock.agent_transitions',
  'an execution that begins RUNNING without an attempt',
  'an execution that begins RUNNING without a token',
  'DELETE of agent_turns',
]);

const CASES = [...sessionCases, ...auditCases, ...workCases, ...memoryCases];

const firstTransition = async (sql: Sql): Promise<string> => {
  const id = await insertSession(sql);
  await move(sql, id, 'PLANNING');
  return id;
};

/** Beside the refusals that stand in test/migrations/refusals. */
const OWN: Record<string, Scene[]> = {
  'guard_session_insert on agent_sessions': [
    {
      title: 'a genesis hash of the writer’s own choice',
      arrange: (sql) => insertSession(sql, { genesis_hash: 'forged' }),
      attempt: async () => undefined,
      isBroken: async (sql, id) => (await one(sql, 'genesis_hash FROM turnlock.agent_sessions', id)) === 'forged',
    },
  ],
  'guard_session_update on agent_sessions': [
    {
      title: 'a token that falls to an older one',
      refusal: 'TL005',
      arrange: async (sql) => {
        const id = await insertSession(sql);
        await move(sql, id, 'PLANNING', 'lease_token = 5');
        return id;
      },
      attempt: (sql, id) => move(sql, id, 'PLANNING', 'lease_token = 4'),
    },
  ],
  'chain_transition on agent_transitions': [
    {
      title: 'a transition that chains to nothing, at a time of the writer’s own choice',
      arrange: firstTransition,
      attempt: async () => undefined,
      isBroken: async (sql, id) => (await one(sql, 'hash FROM turnlock.agent_transitions', id)) === '',
    },
  ],
  'guard_append_only on agent_transitions': [
    {
      title: 'the last transition is deleted',
      refusal: 'TL013',
      arrange: firstTransition,
      attempt: (sql, id) => sql.query('DELETE FROM turnlock.agent_transitions WHERE session_id = $1', [id]),
    },
  ],
  'guard_history_delete on agent_turns': [
    {
      title: 'a turn without calls is deleted',
      refusal: 'TL022',
      arrange: async (sql) => insertTurn(sql, await insertSession(sql), 0),
      attempt: (sql, id) => sql.query('DELETE FROM turnlock.agent_turns WHERE turn_id = $1', [id]),
    },
  ],
  'empty_erased_evidence on agent_tool_evidence': [
    {
      title: 'what a tool says of a session that is erased by then',
      arrange: async (sql) => {
        const { sessionId, executionId } = await insertCall(sql);
        await move(sql, sessionId, 'COMPLETED');
        await sql.query(
          `UPDATE turnlock.agent_sessions SET erased_at = now(), user_id = 'erased ' || session_id WHERE session_id = $1`,
          [sessionId],
        );
        await sql.query(
          `INSERT INTO turnlock.agent_tool_evidence (tenant_id, session_id, execution_id, attempt, token, outcome, output)
            VALUES ($1, $2, $3, 1, 1, 'succeeded', '"said"')`,
          [TENANT, sessionId, executionId],
        );
        return sessionId;
      },
      attempt: async () => undefined,
      isBroken: async (sql, id) => (await one(sql, 'output FROM turnlock.agent_tool_evidence', id)) !== null,
    },
  ],
  'guard_memory on agent_memories': [
    {
      title: 'a memory that no search finds, whoever wrote it',
      arrange: (sql) => insertMemory(sql, { content: 'words' }),
      attempt: async () => undefined,
      isBroken: async (sql, id) => {
        const { rows } = await sql.query(
          `SELECT FROM turnlock.agent_memories WHERE memory_id = $1 AND search @@ 'words'::tsquery`,
          [id],
        );
        return rows.length === 0;
      },
    },
  ],
  'wake_for_evidence on agent_tool_evidence': [
    {
      title: 'a result that comes too late, and that no sweep finds',
      arrange: async (sql) => {
        const { sessionId, executionId } = await insertCall(sql);
        await sql.query(
          `INSERT INTO turnlock.agent_tool_evidence (tenant_id, session_id, execution_id, attempt, token, outcome)
            VALUES ($1, $2, $3, 1, 1, 'succeeded')`,
          [TENANT, sessionId, executionId],
        );
        return sessionId;
      },
      attempt: async () => undefined,
      isBroken: async (sql, id) => {
        const { rows } = await sql.query('SELECT FROM turnlock.sweep_sessions(1000) WHERE session_id = $1', [id]);
        return rows.length === 0;
      },
    },
  ],
};

const PREVENTS: Record<string, string> = {
  'guard_session_insert on agent_sessions':
    'a session that does not begin IDLE with version 0, token 0 and no lease, or a forged begin of its chain',
  'guard_session_update on agent_sessions':
    'a change of a session without version + 1, a token that falls, a session that becomes somebody else’s',
  'check_session_history on agent_sessions': 'a version without its transition row',
  'check_session_running on agent_sessions': 'a session that leaves EXECUTING_TOOL while an execution runs',
  'check_execution_running on agent_tool_executions': 'an execution that runs in another state than EXECUTING_TOOL',
  'check_turn_gap on agent_turns': 'a gap in the turns',
  'guard_turn_update on agent_turns': 'a turn that changes',
  'guard_history_delete on agent_turns': 'a turn that is deleted while its session lives',
  'guard_history_delete on agent_tool_executions': 'an execution that is deleted while its session lives',
  'guard_history_delete on agent_approvals': 'an approval that is deleted while its session lives',
  'guard_execution_insert on agent_tool_executions': 'an execution that begins in the middle',
  'guard_execution_update on agent_tool_executions':
    'an illegal change of status, other params than those of its digest, or once it was started, an attempt that is not counted',
  'guard_approval_insert on agent_approvals': 'a round that somebody decided before it was asked',
  'guard_approval_update on agent_approvals':
    'a round that asks something else than it asked, or is decided or used twice',
  'guard_inbox_insert on agent_inbox': 'a message to a COMPLETED session',
  'chain_transition on agent_transitions':
    'a transition without its predecessor’s hash, or at a time of the writer’s own choice',
  'check_transition_ahead on agent_transitions': 'a transition beyond the version of its session',
  'guard_append_only on agent_transitions': 'an audit that changes or loses its end',
  'guard_append_only on agent_tool_evidence': 'evidence that changes or is lost',
  'guard_payload on agent_transition_payloads': 'a payload that changes, or is erased by half',
  'empty_erased_evidence on agent_tool_evidence': 'a content that comes back after its session was erased',
  'guard_memory on agent_memories':
    'a memory that changes, that comes from another user’s session, or that no search finds',
  'wake_for_evidence on agent_tool_evidence': 'a late result that nobody looks at',
};

async function one(sql: Sql, what: string, sessionId: string): Promise<unknown> {
  const { rows } = await sql.query(`SELECT ${what} WHERE session_id = $1`, [sessionId]);
  return Object.values(rows[0])[0];
}

/** The TRUNCATE of one table takes others with it, so these triggers are one guard. */
const truncate: SchemaGuard = {
  name: 'guard_truncate on every table',
  prevents: 'a table that is emptied past every trigger on its rows',
  covers: CASES.filter(({ code }) => code === 'TL070').map(({ guard }) => `trigger ${guard}`),
  takeOut: 'DROP FUNCTION turnlock.guard_truncate() CASCADE',
  scenes: CASES.filter(({ code }) => code === 'TL070').map(toScene),
};

function toScene({ title, code, arrange, attempt }: RefusalCase): Scene {
  return { title, refusal: code, attempt, ...(arrange ? { arrange } : {}) };
}

/** Every trigger that refuses or repairs, alone. */
export const triggerGuards: readonly SchemaGuard[] = [
  ...[...new Set([...CASES.map(({ guard }) => guard as string), ...Object.keys(OWN)])]
    .filter((guard) => !guard.startsWith('guard_truncate'))
    .map((guard): SchemaGuard => {
      const [name, table] = guard.split(' on ');
      const cases = CASES.filter((refusal) => refusal.guard === guard && !REFUSED_TWICE.has(refusal.title));
      return {
        name: guard,
        prevents: PREVENTS[guard] as string,
        covers: [`trigger ${guard}`],
        takeOut: `DROP TRIGGER ${name} ON turnlock.${table}`,
        scenes: [...cases.map(toScene), ...(OWN[guard] ?? [])],
      };
    }),
  truncate,
];
