import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Session } from '../../index.ts';
import { grantsFor } from '../../migrations/index.ts';
import { freshRole } from '../adapters/databases/fresh-role.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';
import { withClient } from '../support/with-client.ts';
import { FREE_COLUMNS, TRIED_COLUMNS, WAYS } from './every-way.ts';

const TABLES = ['sessions', 'turns', 'tool_executions', 'transitions', 'transition_payloads'];

/*
 * No state of a session changes without its row: tried with plain SQL, by somebody who has the password of the application's role and knows the
 * schema. The role owns nothing and has what `turnlock migrate --grant-to` gives.
 */
onPostgres((database) => {
  describe('as the application’s role', () => {
    let client: pg.Client;
    let session: Session;
    let before: unknown;

    /** Every row of the session, with the two counters of the row's own life: an UPDATE to the same values would show. */
    async function everything(): Promise<unknown> {
      const found: Record<string, unknown> = {};
      for (const table of TABLES) {
        found[table] = await database().query(
          `SELECT r.xmin::text, r.ctid::text, to_jsonb(r) AS row FROM turnlock.agent_${table} r
            WHERE session_id = $1 ORDER BY r::text`,
          [session.sessionId],
        );
      }
      return found;
    }

    beforeAll(async () => {
      const script = eachRun({ toolCalls: [call('pay')] }, 'done');
      const agent = scriptedAgent(script, [looseTool('pay', () => ({ paid: true }))]);
      const runtime = await openRuntime(database(), [agent], { adapter: database().adapter() });
      session = await openSession(runtime, agent);
      await (await session.send('go')).result();
      await runtime.close();
      const role = await freshRole(database().url);
      await withClient(database().url, async (owner) => {
        for (const statement of grantsFor('runtime', role.name)) await owner.query(statement);
      });
      client = new pg.Client({ connectionString: role.url });
      await client.connect();
      await client.query(`SELECT set_config('turnlock.tenant', 'tenant', false)`);
      before = await everything();
    });
    afterAll(() => client.end());

    /** SQLSTATE of what refused it; `null` where it committed. */
    async function attempt(statements: readonly string[]): Promise<string | null> {
      try {
        await client.query('BEGIN');
        for (const text of statements) await client.query(text.replaceAll('$session', `'${session.sessionId}'`));
        await client.query('COMMIT');
        return null;
      } catch (error) {
        await client.query('ROLLBACK');
        return (error as { code?: string }).code ?? 'no code';
      }
    }

    test.each(WAYS)('$title is refused, and nothing has changed', async ({ statements, refusal }) => {
      expect(await attempt(statements)).toMatch(refusal);
      expect(await everything()).toEqual(before);
    });

    test('every column of a session was tried, but those that say whose turn it is', async () => {
      const columns = await database().query(
        `SELECT attname FROM pg_attribute WHERE attrelid = 'turnlock.agent_sessions'::regclass AND attnum > 0 AND NOT attisdropped`,
      );
      expect(columns.map(({ attname }) => attname).sort()).toEqual([...TRIED_COLUMNS, ...FREE_COLUMNS].sort());
    });

    test('a transition with its version passes, and its time and hashes are the database’s, whatever is given', async () => {
      const passed = await attempt([
        `INSERT INTO turnlock.agent_transitions (session_id, sequence, tenant_id, from_state, to_state, event, event_id, cause, token,
            payload_digest, turns_digest, outcomes_digest, created_at, previous_hash, hash)
          SELECT session_id, version + 1, tenant_id, 'IDLE', 'IDLE', 'message.enqueued', 'mine', 'user', lease_token, 'p', 't', 'o',
            '2001-01-01', 'forged', 'forged' FROM turnlock.agent_sessions WHERE session_id = $session`,
        'UPDATE turnlock.agent_sessions SET version = version + 1 WHERE session_id = $session',
      ]);
      expect(passed).toBeNull();
      const [row] = await database().query(
        `SELECT hash, previous_hash, created_at > now() - interval '1 hour' AS "isRecent",
            (SELECT p.hash FROM turnlock.agent_transitions p WHERE p.session_id = t.session_id AND p.sequence = t.sequence - 1) AS last
          FROM turnlock.agent_transitions t WHERE session_id = $1 AND event_id = 'mine'`,
        [session.sessionId],
      );
      expect(row).toEqual({
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        previous_hash: row.last,
        isRecent: true,
        last: row.last,
      });
    });
  });
});
