import { TENANT_TABLES } from '../../../migrations/initial/policies.sql.ts';
import {
  insertCall,
  insertSession,
  insertTransition,
  insertTurn,
  move,
  type Sql,
  TENANT,
} from '../../migrations/scene.ts';
import type { Scene, SchemaGuard } from '../guard.ts';
import { insertRow, ROWS } from './rows.ts';

/** From here on the transaction is that of a role of ours and of a tenant. */
async function become(sql: Sql, role: string, tenant: string): Promise<void> {
  await sql.query(`SELECT set_config('role', $1, true), set_config('turnlock.tenant', $2, true)`, [role, tenant]);
}

/** A row in the table, of the tenant of every scene. */
async function fill(sql: Sql, table: string): Promise<void> {
  const call = await insertCall(sql);
  await move(sql, call.sessionId, 'PLANNING');
  if (table in ROWS) await insertRow(sql, table as keyof typeof ROWS, call);
}

/** Without row-level security a table has no policy: the policy is taken out with it, since alone its lack hides every row. */
function rowLevelSecurity(table: string, policy: string): SchemaGuard {
  return {
    name: `row-level security of ${table}`,
    prevents: 'rows that are shown to another tenant, or to whoever names none',
    covers: [`policy ${policy} on ${table}`],
    takeOut: `ALTER TABLE turnlock.${table} DISABLE ROW LEVEL SECURITY`,
    scenes: ['other', ''].map(
      (tenant): Scene => ({
        title: tenant === '' ? 'rows are shown to whoever names no tenant' : 'rows are shown to another tenant',
        arrange: (sql) => fill(sql, table),
        attempt: async (sql) => {
          await become(sql, 'turnlock_runtime', tenant);
          return sql.query(`SELECT FROM turnlock.${table} WHERE tenant_id = $1`, [TENANT]);
        },
        isBroken: (_sql, _arranged, { rows }) => rows.length > 0,
      }),
    ),
  };
}

const emptied = `SELECT set_config('turnlock.tenant', '', true)`;

/** What a deferred check must still see when the writer has emptied the tenant before COMMIT. */
const HIDDEN: [name: string, table: string, refusal: string, title: string, attempt: (sql: Sql) => Promise<unknown>][] =
  [
    [
      'check_session_history',
      'agent_sessions',
      'TL004',
      'a version without a transition row',
      async (sql) => {
        const id = await insertSession(sql);
        await sql.query('UPDATE turnlock.agent_sessions SET version = version + 1 WHERE session_id = $1', [id]);
      },
    ],
    [
      'check_execution_running',
      'agent_tool_executions',
      'TL035',
      'an execution that runs in IDLE',
      (sql) => insertCall(sql, { status: 'RUNNING', attempt: 1, fencing_token: 1 }),
    ],
    [
      'check_transition_ahead',
      'agent_transitions',
      'TL012',
      'a transition beyond the version',
      async (sql) =>
        insertTransition(sql, await insertSession(sql), { sequence: 1, from_state: 'IDLE', to_state: 'PLANNING' }),
    ],
    [
      'check_turn_gap',
      'agent_turns',
      'TL020',
      'a turn without predecessor',
      async (sql) => insertTurn(sql, await insertSession(sql), 1),
    ],
  ];

function definer([name, , refusal, title, attempt]: (typeof HIDDEN)[number]): SchemaGuard {
  return {
    name: `SECURITY DEFINER of ${name}`,
    prevents: `${title}, where the writer empties its tenant before COMMIT`,
    covers: [],
    takeOut: `ALTER FUNCTION turnlock.${name}() SECURITY INVOKER`,
    scenes: [
      {
        title: `${title}, with the tenant emptied before COMMIT`,
        refusal,
        attempt: async (sql) => {
          await become(sql, 'turnlock_runtime', TENANT);
          await attempt(sql);
          await sql.query(emptied);
        },
      },
    ],
  };
}

/** Functions that cross tenants, each with a call of it and the role that must not. */
const CROSSING: [signature: string, call: string, role: string][] = [
  ['list_controls()', 'list_controls()', 'turnlock_runtime'],
  ['list_sessions(uuid, int, text)', 'list_sessions()', 'turnlock_runtime'],
  ['list_keeping_tenants(text, int)', 'list_keeping_tenants()', 'turnlock_runtime'],
  [
    'find_sessions(text, uuid, text, jsonb, uuid, int, uuid, text)',
    `find_sessions(external_id => 'x')`,
    'turnlock_runtime',
  ],
  ['list_removable(jsonb, text, uuid, int)', `list_removable('[]')`, 'turnlock_runtime'],
  ['remove_sessions(uuid[], jsonb)', `remove_sessions('{}', '[]')`, 'turnlock_runtime'],
  ['remove_claims(bigint, text, int)', 'remove_claims(1)', 'turnlock_runtime'],
  ['remove_operator_reads(bigint, int)', 'remove_operator_reads(1)', 'turnlock_runtime'],
  ['remove_memories(bigint, text, int)', 'remove_memories(1)', 'turnlock_runtime'],
  ['list_erasable(text, text)', `list_erasable('t', 'u')`, 'turnlock_runtime'],
  ['erase_sessions(text, uuid[], text)', `erase_sessions('t', '{}', 'x')`, 'turnlock_runtime'],
  ['erase_left(text, text, int)', `erase_left('t', 'u')`, 'turnlock_runtime'],
  ['sweep_sessions(int, jsonb, uuid[])', 'sweep_sessions(10)', 'turnlock_client'],
  ['claim_sessions(int, jsonb, uuid[])', 'claim_sessions(10)', 'turnlock_client'],
  ['claim_memory_tasks(int, text[], text[], int, uuid[])', `claim_memory_tasks(1, '{}', '{}', 1)`, 'turnlock_client'],
];

function whatOf(signature: string): string {
  if (/^(remove|erase)_/.test(signature)) return 'a role that takes away what is kept';
  return 'a role that reads across tenants';
}

function execute([signature, call, role]: (typeof CROSSING)[number]): SchemaGuard {
  return {
    name: `EXECUTE of ${signature} for its role alone`,
    prevents: `${whatOf(signature)}: ${role}`,
    covers: [],
    takeOut: `GRANT EXECUTE ON FUNCTION turnlock.${signature} TO PUBLIC`,
    scenes: [
      {
        title: `${role} calls it`,
        refusal: '42501',
        arrange: (sql) => insertSession(sql, { external_id: 'x' }),
        attempt: async (sql) => {
          await become(sql, role, 'other');
          return sql.query(`SELECT * FROM turnlock.${call}`);
        },
      },
    ],
  };
}

/** Who may see and call what. */
export const rightGuards: readonly SchemaGuard[] = [
  ...TENANT_TABLES.map((table) => rowLevelSecurity(table, 'own_tenant')),
  rowLevelSecurity('agent_controls', 'own_tenant_or_all'),
  ...HIDDEN.map(definer),
  ...CROSSING.map(execute),
];
