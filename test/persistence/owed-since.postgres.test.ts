import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { owedSince } from '../../persistence/owed-since.ts';
import { readStandings } from '../../persistence/read-standings.ts';
import { inTransaction } from '../../persistence/session-transaction.ts';
import { openStore } from '../support/open-store.ts';
import { onPostgres } from '../support/runtime-database.ts';

const TIMES = ['NULL', `turnlock.turnlock_now() - interval '1 hour'`, `turnlock.turnlock_now() + interval '1 hour'`];
const STATES = ['IDLE', 'PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT', 'COMPLETED', 'FAILED'];
const INBOXES = [[], [`'message', NULL`], [`'message', turnlock.turnlock_now()`], [`'cancel', NULL`]];

onPostgres((database) => {
  test('what one session owes is what the look for work finds: every state with every lease, wake and inbox', async () => {
    const ids: string[] = [];
    await database().query(`SET session_replication_role = 'replica'`);
    for (const state of STATES)
      for (const lease of TIMES)
        for (const wake of TIMES)
          for (const inbox of INBOXES) {
            const id = randomUUID();
            ids.push(id);
            await database().query(
              `INSERT INTO turnlock.agent_sessions (session_id, tenant_id, user_id, current_state, active_model_id, agent_name, agent_version,
                  machine_id, machine_version, snapshot, lease_holder, lease_expires_at, wake_at, updated_at, created_at)
                VALUES ($1, 'tenant', 'user', $2, 'm', 'a', 1, 'session', 1, '{}', ${lease === 'NULL' ? 'NULL' : `'h'`}, ${lease}, ${wake},
                  turnlock.turnlock_now() - interval '2 hours', turnlock.turnlock_now() - interval '2 hours')`,
              [id, state],
            );
            for (const message of inbox) {
              await database().query(
                `INSERT INTO turnlock.agent_inbox (tenant_id, session_id, content, kind, noted_at, created_at)
                  VALUES ('tenant', $1, 'x', ${message}, turnlock.turnlock_now() - interval '30 minutes')`,
                [id],
              );
            }
          }
    await database().query(`SET session_replication_role = 'origin'`);
    const store = await openStore(database());
    const standings = await inTransaction(store, { tenantId: 'tenant' }, (em) =>
      readStandings(em, { tenantId: 'tenant', sessionIds: ids }),
    );
    const found = await database().query('SELECT DISTINCT session_id FROM turnlock.sweep_sessions(1000)');
    const owed = standings.filter((standing) => (owedSince(standing) ?? Infinity) <= standing.now);
    expect(standings).toHaveLength(ids.length);
    expect(owed.map(({ sessionId }) => sessionId).sort()).toEqual(found.map((row) => row.session_id).sort());
    expect(owed.length).toBeGreaterThan(50);
  });
});
