import { expect, test } from 'vitest';
import { inspect } from '../../../../adapters/inspector/inspect.ts';
import { systemEnvironment } from '../../../../environment.ts';
import { openStore } from '../../../support/open-store.ts';
import { onPostgres } from '../../../support/runtime-database.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { getPage } from '../inspect-page.ts';

const SESSIONS = 6_000;

/** Rows of sessions that a page may read: each of its 50 lines by three statements, and what ends a look. */
const READ = 500;

onPostgres((database) => {
  test('a page of the list reads the sessions that it shows, and not all of a large tenant’s', async () => {
    await database().query(
      `INSERT INTO turnlock.agent_sessions (tenant_id, user_id, external_id, active_model_id, agent_name, agent_version, machine_id,
          machine_version, snapshot, updated_at)
        SELECT 'large', CASE WHEN n <= 3 THEN 'ana' ELSE 'bo' END, 'no-' || n, 'm', 'agent', 1, 'session', 1, '{}',
          date_trunc('second', now()) - n * interval '1 second'
          FROM generate_series(1, $1::int) n`,
      [SESSIONS],
    );
    await database().query('VACUUM ANALYZE turnlock.agent_sessions');
    const [middle] = await database().query(
      `SELECT session_id, (extract(epoch FROM updated_at) * 1000000)::bigint::text AS micros FROM turnlock.agent_sessions WHERE external_id = 'no-3000'`,
    );
    const place = `${middle.micros}.${middle.session_id}`;
    const read: Record<string, number> = {};
    for (const [query, shown] of [
      ['', 50],
      [`older=${place}`, 50],
      [`newer=${place}`, 50],
      ['user=ana', 3],
      ['agent=agent', 50],
      ['state=IDLE', 50],
      ['state=FAILED', 0],
      ['state=AWAITING_INPUT', 0],
      ['within=hour', 50],
      ['asked=1', 0],
      ['q=no-77', 1],
      [`q=${middle.session_id}`, 1],
      [`q=${middle.session_id.slice(0, 13)}`, 1],
    ] as const) {
      read[query] = await rowsReadBy(query, shown);
    }
    expect(Object.entries(read).filter(([, rows]) => rows > READ)).toEqual([]);
  });

  /** A connection writes what it counted when it ends, so each page is read by one of its own. */
  async function rowsReadBy(query: string, shown: number): Promise<number> {
    const before = await counted();
    const store = await openStore(database());
    const handler = inspect(
      { store, runtime: null, environment: systemEnvironment },
      { viewer: { tenantId: 'large', by: 'op' } },
    );
    const { html } = await getPage(handler, `/?${query}`);
    expect([query, html.match(/class="cell-main"/g)?.length ?? 0]).toEqual([query, shown]);
    await store.database.close();
    return (await counted()) - before;
  }

  async function counted(): Promise<number> {
    await waitFor(async () => (await others()) === 0, { for: 'the connections of the page to end' });
    const [row] = await database().query(
      `SELECT (seq_tup_read + COALESCE(idx_tup_fetch, 0))::int AS rows FROM pg_stat_user_tables WHERE relid = 'turnlock.agent_sessions'::regclass`,
    );
    return row.rows;
  }

  async function others(): Promise<number> {
    const [row] = await database().query(
      `SELECT count(*)::int AS others, pg_stat_clear_snapshot() FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    return row.others;
  }
});
