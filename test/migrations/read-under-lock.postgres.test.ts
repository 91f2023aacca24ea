import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tamper } from '../support/as-application.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { insertCall, move, TENANT } from './scene.ts';

/*
 * What every commit reads, by the plan that its connection keeps: one connection for all of it, so that each test meets what was planned
 * before.
 */

let client: pg.Client;
let sessionId: string;
beforeAll(async () => {
  client = new pg.Client({ connectionString: (await freshDatabase()).url });
  await client.connect();
  ({ sessionId } = await insertCall(client));
  await move(client, sessionId, 'PLANNING');
  await client.query('VACUUM ANALYZE');
});
afterAll(() => client.end());

/** Reads the session in a transaction of its own; `role` absent: as the owner. */
async function read({ role, tenant = TENANT, of = TENANT }: { role?: string; tenant?: string; of?: string } = {}) {
  await client.query('BEGIN');
  if (role !== undefined) await client.query(`SET LOCAL ROLE ${role}`);
  await client.query(`SELECT set_config('turnlock.tenant', $1, true)`, [tenant]);
  try {
    const { rows } = await client.query(
      'SELECT (r.session).*, r.* FROM turnlock.read_under_lock($1, $2, (SELECT event_id FROM turnlock.agent_transitions WHERE session_id = $2)) r',
      [of, sessionId],
    );
    return rows;
  } finally {
    await client.query('ROLLBACK');
  }
}

const FOUND = { session_id: '', current_state: 'PLANNING', seen_sequence: 1, seen_to: 'PLANNING', inbox_waiting: 0 };
const found = () => [expect.objectContaining({ ...FOUND, session_id: sessionId })];

test('row-level security holds who reads by a plan that was made for the owner, and the other way round', async () => {
  const role = 'turnlock_runtime';
  expect(await read()).toEqual(found());
  expect(await read({ role, tenant: 'other' })).toEqual([]);
  expect(await read({ role, tenant: '' })).toEqual([]);
  expect(await read({ role })).toEqual(found());
  expect(await read({ tenant: 'other' })).toEqual(found());
  expect(await read({ role, tenant: 'other' })).toEqual([]);
});

test('the owner, whom no policy holds, is given nothing of another tenant either', async () => {
  expect(await read({ of: 'other' })).toEqual([]);
});

/** 2,000 other sessions with a row of everything, and as many transitions, executions, decided questions and controls beside the ones that are looked for. */
const fullOf = (
  sessionId: string,
) => `WITH n AS (SELECT gen_random_uuid() AS id, row_number() OVER () AS i FROM generate_series(1, 2000)),
  both_ids AS (SELECT id, id AS session_id, 1 AS i FROM n UNION ALL SELECT gen_random_uuid(), '${sessionId}'::uuid, i + 1 FROM n),
  sessions AS (INSERT INTO turnlock.agent_sessions (session_id, tenant_id, user_id, active_model_id, agent_name, agent_version, machine_id,
      machine_version, snapshot) SELECT id, '${TENANT}', 'user', 'm', 'a', 1, 'session', 1, '{}' FROM n),
  inbox AS (INSERT INTO turnlock.agent_inbox (tenant_id, session_id, content) SELECT '${TENANT}', id, 'x' FROM n),
  transitions AS (INSERT INTO turnlock.agent_transitions (session_id, sequence, tenant_id, from_state, to_state, event, event_id, cause,
      token, payload_digest, turns_digest, outcomes_digest)
    SELECT session_id, i, '${TENANT}', 'IDLE', 'IDLE', 'e', id::text, 'user', 0, '', '', '' FROM both_ids),
  payloads AS (INSERT INTO turnlock.agent_transition_payloads (session_id, sequence, tenant_id) SELECT session_id, i, '${TENANT}' FROM both_ids),
  executions AS (INSERT INTO turnlock.agent_tool_executions (execution_id, tenant_id, session_id, turn_id, run_id, tool_name, idempotency_key,
      input_parameters, ordinal, tool_version, params_digest, effect)
    SELECT id, '${TENANT}', session_id, session_id, session_id, 't', id::text, '{}', 0, 1, 'd', 'readOnly' FROM both_ids),
  evidence AS (INSERT INTO turnlock.agent_tool_evidence (tenant_id, session_id, execution_id, attempt, token, outcome)
    SELECT '${TENANT}', session_id, id, 1, 1, 'failed' FROM both_ids WHERE i = 1),
  approvals AS (INSERT INTO turnlock.agent_approvals (tenant_id, session_id, execution_id, args_digest, requested_at)
    SELECT '${TENANT}', id, id, 'd', now() FROM n),
  decided AS (INSERT INTO turnlock.agent_approvals (tenant_id, session_id, execution_id, args_digest, requested_at, decision, decided_by, decided_at)
    SELECT '${TENANT}', session_id, id, 'd', now(), 'granted', 'ann', now() FROM both_ids WHERE session_id = '${sessionId}')
  INSERT INTO turnlock.agent_controls (tenant_id, kind, created_by) SELECT 'another' || i, 'freeze', 'x' FROM n`;

test.each(['as it is made', 'with statistics of next to nothing'])(
  'a plan made on a database %s looks up single rows still once it is full',
  async (state) => {
    const { url } = await freshDatabase();
    const full = new pg.Client({ connectionString: url });
    await full.connect();
    atTestEnd(() => full.end());
    const call = await insertCall(full);
    await move(full, call.sessionId, 'PLANNING');
    await full.query(
      `INSERT INTO turnlock.agent_tool_evidence (tenant_id, session_id, execution_id, attempt, token, outcome) VALUES ($1, $2, $3, 1, 1, 'failed')`,
      [TENANT, call.sessionId, call.executionId],
    );
    if (state !== 'as it is made') await full.query('VACUUM ANALYZE');
    const { rows: events } = await full.query('SELECT event_id FROM turnlock.agent_transitions');
    const readRows = async () => {
      const { rows } = await full.query(
        `SELECT relname AS table, (seq_tup_read + COALESCE(idx_tup_fetch, 0))::int AS rows FROM pg_stat_xact_user_tables
          WHERE schemaname = 'turnlock' AND relname <> 'turnlock_clock' ORDER BY relname`,
      );
      return new Map<string, number>(rows.map(({ table, rows: count }) => [table, count]));
    };
    /** Reads as the runtime does, and tells how many rows of each table that took. */
    const rowsRead = async () => {
      await full.query(`BEGIN; SET LOCAL ROLE turnlock_runtime; SET LOCAL turnlock.tenant = '${TENANT}'`);
      const before = await readRows();
      const values = [TENANT, call.sessionId, events[0].event_id];
      const { rows } = await full.query('SELECT * FROM turnlock.read_under_lock($1, $2, $3)', values);
      expect(rows).toEqual([expect.objectContaining({ seen_sequence: 1, evidence_count: 1, inbox_has_rows: false })]);
      const after = await readRows();
      await full.query('ROLLBACK');
      return [...after].map(([table, count]) => [table, count - (before.get(table) ?? 0)] as const);
    };
    await rowsRead();
    // Over another connection: turning triggers off makes a connection forget its plans.
    await tamper(url, fullOf(call.sessionId));
    const walked = await rowsRead();
    expect(walked.length).toBeGreaterThan(5);
    expect(walked.filter(([, count]) => count > 2)).toEqual([]);
  },
);

test('a connection that has the plan reads on when the tables change under it', async () => {
  const role = 'turnlock_runtime';
  await read({ role });
  await client.query(`ALTER TABLE turnlock.agent_sessions ADD COLUMN later text NOT NULL DEFAULT 'later'`);
  expect(await read({ role })).toEqual([expect.objectContaining({ ...FOUND, session_id: sessionId, later: 'later' })]);
  await client.query('ALTER TABLE turnlock.agent_sessions DROP COLUMN later');
  const rows = await read({ role });
  expect(rows).toEqual(found());
  expect(rows[0]).not.toHaveProperty('later');
});
