import { insertCall, insertSession, insertTransition, move, TENANT } from '../scene.ts';
import type { RefusalCase } from './refusal-case.ts';

const moved: RefusalCase['arrange'] = async (sql) => {
  const id = await insertSession(sql);
  await move(sql, id, 'PLANNING');
  await sql.query(
    `INSERT INTO turnlock.agent_transition_payloads (session_id, sequence, tenant_id, salt, payload)
      VALUES ($1, 1, $2, 'salt', '{"who":"x"}')`,
    [id, TENANT],
  );
  return id;
};

const evidenced: RefusalCase['arrange'] = async (sql) => {
  const { sessionId, executionId } = await insertCall(sql);
  await sql.query(
    `INSERT INTO turnlock.agent_tool_evidence (tenant_id, session_id, execution_id, attempt, token, outcome)
      VALUES ($1, $2, $3, 1, 1, 'succeeded')`,
    [TENANT, sessionId, executionId],
  );
  return sessionId;
};

const on = (text: string): RefusalCase['attempt'] => {
  return (sql, id) => sql.query(`${text} WHERE session_id = $1`, [id]);
};

const chainGuard = 'chain_transition on agent_transitions';
const payloadGuard = 'guard_payload on agent_transition_payloads';

const TRUNCATED = [
  'agent_sessions',
  'agent_turns',
  'agent_tool_executions',
  'agent_transitions',
  'agent_transition_payloads',
  'agent_tool_evidence',
  'agent_approvals',
  'agent_inbox',
  'agent_model_calls',
  'agent_idempotency_claims',
  'agent_operator_reads',
];

export const auditCases: RefusalCase[] = [
  {
    code: 'TL010',
    title: 'a transition without predecessor',
    guard: chainGuard,
    arrange: moved,
    attempt: (sql, id) => insertTransition(sql, id, { sequence: 3, from_state: 'PLANNING', to_state: 'IDLE' }),
  },
  {
    code: 'TL011',
    title: 'a transition that does not start where the last one ended',
    guard: chainGuard,
    arrange: moved,
    attempt: (sql, id) => insertTransition(sql, id, { sequence: 2, from_state: 'IDLE', to_state: 'PLANNING' }),
  },
  {
    code: 'TL011',
    title: 'a first transition that does not start in IDLE',
    guard: chainGuard,
    arrange: (sql) => insertSession(sql),
    attempt: (sql, id) => insertTransition(sql, id, { sequence: 1, from_state: 'PLANNING', to_state: 'IDLE' }),
  },
  {
    code: 'TL011',
    title: 'a transition row of an illegal pair',
    guard: chainGuard,
    arrange: (sql) => insertSession(sql),
    attempt: (sql, id) => insertTransition(sql, id, { sequence: 1, from_state: 'IDLE', to_state: 'FAILED' }),
  },
  {
    code: 'TL012',
    title: 'a transition beyond the version',
    guard: 'check_transition_ahead on agent_transitions',
    arrange: moved,
    attempt: (sql, id) => insertTransition(sql, id, { sequence: 2, from_state: 'PLANNING', to_state: 'IDLE' }),
  },
  ...[
    ['UPDATE turnlock.agent_transitions SET event = event', moved, 'agent_transitions'] as const,
    ['DELETE FROM turnlock.agent_transitions', moved, 'agent_transitions'] as const,
    ['UPDATE turnlock.agent_tool_evidence SET attempt = attempt', evidenced, 'agent_tool_evidence'] as const,
    ['DELETE FROM turnlock.agent_tool_evidence', evidenced, 'agent_tool_evidence'] as const,
  ].map(
    ([text, arrange, table]): RefusalCase => ({
      code: 'TL013',
      title: text,
      guard: `guard_append_only on ${table}`,
      arrange: arrange as NonNullable<RefusalCase['arrange']>,
      attempt: on(text),
    }),
  ),
  {
    code: 'TL013',
    title: 'DELETE of a payload',
    guard: payloadGuard,
    arrange: moved,
    attempt: on('DELETE FROM turnlock.agent_transition_payloads'),
  },
  {
    code: 'TL014',
    title: 'another payload',
    guard: payloadGuard,
    arrange: moved,
    attempt: on(`UPDATE turnlock.agent_transition_payloads SET payload = '{}'`),
  },
  {
    code: 'TL014',
    title: 'a payload erased by half',
    guard: payloadGuard,
    arrange: moved,
    attempt: on('UPDATE turnlock.agent_transition_payloads SET salt = NULL, erased_at = NULL'),
  },
  {
    code: 'TL014',
    title: 'a payload erased twice',
    guard: payloadGuard,
    arrange: async (sql) => {
      const id = await moved(sql);
      await on('UPDATE turnlock.agent_transition_payloads SET salt = NULL, payload = NULL, erased_at = now()')(sql, id);
      return id;
    },
    attempt: on(`UPDATE turnlock.agent_transition_payloads SET erased_at = '2030-01-01'`),
  },
  ...TRUNCATED.map(
    (table): RefusalCase => ({
      code: 'TL070',
      title: `TRUNCATE of ${table}`,
      guard: `guard_truncate on ${table}`,
      attempt: (sql) => sql.query(`TRUNCATE turnlock.${table} CASCADE`),
    }),
  ),
];
