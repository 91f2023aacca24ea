import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshDatabase } from '../support/fresh-database.ts';
import { withClient } from '../support/with-client.ts';
import { insertSession, move, TENANT } from './scene.ts';

let url: string;
let client: pg.Client;
beforeAll(async () => {
  ({ url } = await freshDatabase());
  client = new pg.Client({ connectionString: url });
  await client.connect();
});
afterAll(() => client.end());

/** The rows of `agent_sessions` that the statement fetched, whether by index or by scan. */
async function rowsRead(text: string): Promise<{ scanned: number; fetched: number }> {
  await client.query('SELECT pg_stat_force_next_flush()');
  const read = async () => {
    const { rows } = await client.query(
      `SELECT seq_tup_read::int AS scanned, COALESCE(idx_tup_fetch, 0)::int AS fetched
        FROM pg_stat_user_tables WHERE relid = 'turnlock.agent_sessions'::regclass`,
    );
    return rows[0];
  };
  const before = await read();
  await client.query(text);
  await client.query('SELECT pg_stat_force_next_flush()');
  const after = await read();
  return { scanned: after.scanned - before.scanned, fetched: after.fetched - before.fetched };
}

test('a sweep over many sleeping sessions reads only the ones that owe work', async () => {
  await client.query(
    `INSERT INTO turnlock.agent_sessions (tenant_id, user_id, active_model_id, agent_name, agent_version, machine_id, machine_version,
        snapshot, wake_at)
      SELECT $1, 'u', 'm', 'a', 1, 'session', 1, '{}', CASE WHEN n % 2 = 0 THEN now() + interval '1 day' END
      FROM generate_series(1, 20000) n`,
    [TENANT],
  );
  const id = await insertSession(client);
  await move(client, id, 'PLANNING', `updated_at = '2020-01-01'`);
  await client.query('ANALYZE turnlock.agent_sessions');
  for (const name of ['sweep_sessions', 'claim_sessions']) {
    const { scanned, fetched } = await rowsRead(`SELECT * FROM turnlock.${name}(100)`);
    expect(scanned).toBe(0);
    expect(fetched).toBeLessThan(10);
  }
  const build = `'{"machines": {"session": [1]}, "agents": {"agent": {"version": 1, "tools": {"tool": 1}}}}'`;
  for (const name of ['sweep_sessions', 'claim_sessions']) {
    const { scanned, fetched } = await rowsRead(`SELECT * FROM turnlock.${name}(100, ${build})`);
    expect(scanned).toBe(0);
    expect(fetched).toBeLessThan(10);
  }
  const { scanned } = await rowsRead('SELECT turnlock.next_due_at()');
  expect(scanned).toBe(0);
});

test('what is one user’s is found among many sessions of the tenant without reading them', async () => {
  await client.query(
    `INSERT INTO turnlock.agent_sessions (tenant_id, user_id, active_model_id, agent_name, agent_version, machine_id, machine_version, snapshot)
      SELECT $1, 'ana', 'm', 'a', 1, 'session', 1, '{}' FROM generate_series(1, 3)`,
    [TENANT],
  );
  for (const text of [
    `SELECT * FROM turnlock.list_erasable('${TENANT}', 'ana')`,
    `SELECT session_id FROM turnlock.agent_sessions WHERE tenant_id = '${TENANT}' AND user_id = 'ana' ORDER BY updated_at DESC LIMIT 50`,
  ]) {
    const { scanned, fetched } = await rowsRead(text);
    expect(scanned).toBe(0);
    expect(fetched).toBeLessThan(20);
  }
});

test('a claim skips what another worker has claimed, and waits for nobody', async () => {
  const ids = [await insertSession(client), await insertSession(client)];
  for (const id of ids) await move(client, id, 'PLANNING', `updated_at = '2019-01-01'`);
  await withClient(url, async (other) => {
    await client.query('BEGIN');
    await other.query(`BEGIN; SET LOCAL lock_timeout = '1ms'`);
    const first = await client.query('SELECT session_id FROM turnlock.claim_sessions(1)');
    const second = await other.query('SELECT session_id FROM turnlock.claim_sessions(1)');
    await client.query('ROLLBACK');
    await other.query('ROLLBACK');
    expect([first.rows[0].session_id, second.rows[0].session_id].sort()).toEqual(ids.sort());
  });
});
