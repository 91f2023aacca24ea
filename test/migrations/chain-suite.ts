import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { insertSession, insertTransition, move, type Sql, TENANT } from './scene.ts';

/** The text of a jsonb array of strings, whole numbers and nulls: what the database hashes. */
function hashOf(fields: (string | number | null)[]): string {
  const text = `[${fields.map((field) => JSON.stringify(field)).join(', ')}]`;
  return createHash('sha256').update(text).digest('hex');
}

/** The fixed order of the hashed fields, written by hand. */
const FIELDS = [
  'format_version',
  'tenant_id',
  'session_id',
  'sequence',
  'run_id',
  'from_state',
  'to_state',
  'event',
  'event_id',
  'cause',
  'token',
  'created_at_ms',
  'payload_digest',
  'turns_digest',
  'outcomes_digest',
  'previous_hash',
];

/** The audit's chain can be verified without the database, whatever text its fields hold. */
export function describeChain(open: () => Sql): void {
  test('each hash is that of its row and of the row before it', async () => {
    const sql = open();
    const odd = 'a "quoted" \\ ü 🙂 \u007f\u0001\t,';
    const id = await insertSession(sql, { agent_name: odd });
    await move(sql, id, 'PLANNING');
    await sql.query('BEGIN');
    await insertTransition(sql, id, { sequence: 2, from_state: 'PLANNING', to_state: 'PLANNING', event_id: odd });
    await sql.query('UPDATE turnlock.agent_sessions SET version = 2 WHERE session_id = $1', [id]);
    await sql.query('COMMIT');
    await move(sql, id, 'IDLE');
    const { rows: sessions } = await sql.query('SELECT * FROM turnlock.agent_sessions WHERE session_id = $1', [id]);
    // The last element is the initial snapshot, an object: its text is `{}`.
    const genesis = `[1, ${[id, TENANT, odd].map((text) => JSON.stringify(text)).join(', ')}, 1, "session", 1, {}]`;
    expect(sessions[0].genesis_hash).toBe(createHash('sha256').update(genesis).digest('hex'));
    const { rows } = await sql.query(
      `SELECT *, (extract(epoch FROM created_at) * 1000)::text::float8 AS created_at_ms
        FROM turnlock.agent_transitions WHERE session_id = $1 ORDER BY sequence`,
      [id],
    );
    expect(rows.map((row) => row.hash)).toEqual(rows.map((row) => hashOf(FIELDS.map((field) => row[field]))));
    expect(rows.map((row) => row.previous_hash)).toEqual([genesisOf(sessions), rows[0].hash, rows[1].hash]);
  });

  test('two transitions in one INSERT chain', async () => {
    const sql = open();
    const id = await insertSession(sql);
    await sql.query('BEGIN');
    await sql.query(
      `INSERT INTO turnlock.agent_transitions
          (session_id, sequence, tenant_id, from_state, to_state, event, event_id, cause, token, payload_digest, turns_digest, outcomes_digest)
        VALUES ($1, 1, $2, 'IDLE', 'PLANNING', 'e', '1', 'user', 0, '', '', ''), ($1, 2, $2, 'PLANNING', 'IDLE', 'e', '2', 'user', 0, '', '', '')`,
      [id, TENANT],
    );
    const { rows } = await sql.query(
      'SELECT hash, previous_hash FROM turnlock.agent_transitions WHERE session_id = $1 ORDER BY sequence',
      [id],
    );
    await sql.query('ROLLBACK');
    expect(rows[1].previous_hash).toBe(rows[0].hash);
  });

  test('what a writer gives for time and hashes counts for nothing', async () => {
    const sql = open();
    const id = await insertSession(sql, { genesis_hash: 'mine' });
    await sql.query('BEGIN');
    await insertTransition(sql, id, {
      sequence: 1,
      from_state: 'IDLE',
      to_state: 'IDLE',
      created_at: '2001-01-01',
      hash: 'mine',
      previous_hash: 'mine',
    });
    const { rows } = await sql.query(
      `SELECT t.hash, t.previous_hash, t.created_at > '2020-01-01' AS is_recent, s.genesis_hash
        FROM turnlock.agent_transitions t JOIN turnlock.agent_sessions s USING (session_id) WHERE t.session_id = $1`,
      [id],
    );
    await sql.query('ROLLBACK');
    expect(rows[0]).toEqual({
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      previous_hash: rows[0].genesis_hash,
      is_recent: true,
      genesis_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });
}

function genesisOf(sessions: { genesis_hash: string }[]): string | undefined {
  return sessions[0]?.genesis_hash;
}
